internal import Contract
internal import Scheduling

/// Decides what goes wrong with each call: the scripts of single transactions first, then the endpoint's behaviour.
struct ScriptBook: Sendable {
    /// Transactions that can have a script at once.
    static let scriptLimit = 1_000_000
    /// Faults that one transaction's script can hold.
    static let faultLimit = 10_000

    /// The script of one call.
    struct Entry: Equatable, Sendable {
        var delayMilliseconds = 0
        /// Nil for the real answer.
        var fault: Fault?
    }

    /// Why a script is not taken: there is no room. Let played scripts finish, or ``clear()`` them.
    enum Full: Error, Equatable {
        case scripts(limit: Int)
        case faults(limit: Int)
    }

    private var scripts: [TransactionID: ArraySlice<Fault>] = [:]
    private var behaviours: [Environment: Behaviour] = [:]
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    /// Appends to a transaction's script.
    mutating func append(_ faults: [Fault], to transaction: TransactionID) throws(Full) {
        guard !faults.isEmpty else { return }
        guard scripts[transaction] != nil || scripts.count < Self.scriptLimit else {
            throw .scripts(limit: Self.scriptLimit)
        }
        guard (scripts[transaction]?.count ?? 0) + faults.count <= Self.faultLimit else {
            throw .faults(limit: Self.faultLimit)
        }
        scripts[transaction, default: []].append(contentsOf: faults)
    }

    mutating func set(_ behaviour: Behaviour, for environment: Environment) {
        behaviours[environment] = behaviour
    }

    /// Forgets every script and behaviour.
    mutating func clear() {
        scripts = [:]
        behaviours = [:]
    }

    func outage(in environment: Environment) -> Behaviour.Outage? {
        behaviours[environment]?.outage
    }

    /// Takes the next fault of the first transaction that has a script; without one, draws from the shares.
    mutating func next(forCallAbout transactions: [TransactionID], in environment: Environment) -> Entry {
        let behaviour = behaviours[environment]
        var entry = Entry()
        if let behaviour { entry.delayMilliseconds = behaviour.latency.milliseconds(using: &generator) }
        entry.fault = scripted(transactions) ?? behaviour.flatMap { drawn($0.faults) }
        if case .delay(let milliseconds) = entry.fault {
            entry.delayMilliseconds += max(0, min(milliseconds, 86_400_000))
        }
        return entry
    }

    private mutating func scripted(_ transactions: [TransactionID]) -> Fault? {
        guard !scripts.isEmpty else { return nil }
        for transaction in transactions {
            guard let fault = scripts[transaction]?.popFirst() else { continue }
            if scripts[transaction]?.isEmpty == true { scripts[transaction] = nil }
            return fault
        }
        return nil
    }

    private mutating func drawn(_ shares: [Behaviour.Share]) -> Fault? {
        guard !shares.isEmpty else { return nil }
        var number = Double.random(in: 0..<1, using: &generator)
        for share in shares {
            if number < share.share { return share.fault }
            number -= share.share
        }
        return nil
    }
}
