import Crypto
import KeyTables
import Purchases
import Synchronization

/// A key of Apple's, certified and seen to have signed, and when it may have signed.
///
/// Apple signs with one or two keys for years, so a key that comes again and again gets a ``KeyTable``, which checks its
/// signatures in less than half of the time. swift-crypto stays the judge: what the table does not confirm it decides, and
/// it looks at a sample of what the table confirms. Once a table is caught in a false answer none of the process is asked again.
///
/// May be used from all cores at once.
final class SigningKey: Sendable {
    /// Checks before a table is made, which costs as much as some seven hundred of what it saves each time.
    static let checksBeforeTable = 1000
    /// One of so many signatures that the table confirms is checked by swift-crypto, too.
    static let sample = 1024

    let validity: ClosedRange<Timestamp>
    private let trust: TableTrust
    private let key: P256.Signing.PublicKey
    private let makeTable: @Sendable (P256.Signing.PublicKey) -> (any SignatureTable)?
    private let state = Mutex(State.counting(0))

    private enum State {
        /// How many signatures were checked. -> `making`.
        case counting(Int)
        /// One thread makes the table. -> `asked`, or `without` where none can be made.
        case making
        /// How many signatures the table confirmed. -> `without` after a false answer of any table.
        case asked(any SignatureTable, confirmed: Int)
        case without
    }

    /// - Parameters:
    ///   - trust: what all keys of a verifier share.
    ///   - makeTable: what makes the table; for tests.
    init(
        key: P256.Signing.PublicKey, validity: ClosedRange<Timestamp>, trust: TableTrust,
        makeTable: @escaping @Sendable (P256.Signing.PublicKey) -> (any SignatureTable)? = {
            KeyTable(key: $0.rawRepresentation)
        }
    ) {
        self.key = key
        self.validity = validity
        self.trust = trust
        self.makeTable = makeTable
    }

    /// Whether the key signed the bytes.
    ///
    /// - Parameter signature: `r` and `s` (RFC 7518, section 3.4); anything else is no signature.
    func signed(_ bytes: ArraySlice<UInt8>, _ signature: [UInt8]) -> Bool {
        let digest = SHA256.hash(data: bytes)
        switch next() {
        case .decide: return decide(digest, signature)
        case .makeTable:
            let table = makeTable(key)
            state.withLock { $0 = table.map { .asked($0, confirmed: 0) } ?? .without }
            return decide(digest, signature)
        case .ask(let table):
            guard table.check(signature, of: Array(digest)) == .holds else { return decide(digest, signature) }
            return isOfSample() ? decideConfirmed(digest, signature) : true
        }
    }

    private enum Step {
        case decide
        case makeTable
        case ask(any SignatureTable)
    }

    private func next() -> Step {
        state.withLock { state in
            switch state {
            case .counting(let count) where count < Self.checksBeforeTable:
                state = .counting(count + 1)
                return .decide
            case .counting where trust.isLost:
                state = .without
                return .decide
            case .counting:
                state = .making
                return .makeTable
            case .making, .without: return .decide
            case .asked where trust.isLost:
                state = .without
                return .decide
            case .asked(let table, _): return .ask(table)
            }
        }
    }

    /// Counts a confirmed signature. The first one is looked at, too.
    private func isOfSample() -> Bool {
        state.withLock { state in
            guard case .asked(let table, let confirmed) = state else { return true }
            state = .asked(table, confirmed: confirmed + 1)
            return confirmed % Self.sample == 0
        }
    }

    private func decideConfirmed(_ digest: SHA256Digest, _ signature: [UInt8]) -> Bool {
        guard !decide(digest, signature) else { return true }
        trust.lose()
        return false
    }

    private func decide(_ digest: SHA256Digest, _ signature: [UInt8]) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: digest)
    }
}

/// Whether tables are believed. A false answer is one of the memory, the processor or a library, so it counts for all of them.
final class TableTrust: Sendable {
    private let count = Atomic(0)

    /// False answers so far.
    var falseAnswers: Int { count.load(ordering: .relaxed) }
    var isLost: Bool { falseAnswers > 0 }

    func lose() { count.add(1, ordering: .relaxed) }
}

/// What confirms signatures of one key.
protocol SignatureTable: Sendable {
    func check(_ signature: [UInt8], of digest: [UInt8]) -> KeyTable.Answer
}

extension KeyTable: SignatureTable {}
