import Contract
import Ledger

/// Finds the lines of a file that may stand in each other's way, in bounded memory. Each name that a line takes sets
/// two bits of a field. A name whose bits were both set may have come before, and is looked at again. None that did
/// come before is missed.
struct SharedNames {
    /// Most bits of the field: 128 MiB. Up to some ten million lines fewer than one name in a hundred is looked at
    /// again for nothing.
    static let mostBits = 1 << 30
    /// Most names that are looked at again.
    static let most = 1_000_000

    private let most: Int
    private var field: [UInt64]
    private let mask: UInt
    private var suspects: Set<Int> = []
    /// More names than ``most`` may be shared: not all of them are known.
    private(set) var isFull = false

    var isEmpty: Bool { suspects.isEmpty }

    /// - Parameter size: Bytes of the file. Each line has a hundred of them, so there is a bit for each.
    init(size: Int, most: Int = SharedNames.most) {
        self.most = most
        var bits = 1 << 16
        while bits < min(size, Self.mostBits) { bits *= 2 }
        field = Array(repeating: 0, count: bits / UInt64.bitWidth)
        mask = UInt(bits - 1)
    }

    mutating func add(_ grant: Grant) {
        for name in Self.names(of: grant) where mark(name) {
            guard suspects.count < most else {
                isFull = true
                return
            }
            suspects.insert(name)
        }
    }

    /// Whether a line may have a name of another one.
    func contains(_ grant: Grant) -> Bool { Self.names(of: grant).contains(where: suspects.contains) }

    /// The two names that the ledger has once: the transaction's, and the grant key.
    private static func names(of grant: Grant) -> [Int] { [grant.reference.hashValue, grant.key.hashValue] }

    /// - Returns: Whether both bits were set.
    private mutating func mark(_ name: Int) -> Bool {
        let bits = UInt(bitPattern: name)
        var wereSet = true
        for bit in [bits & mask, (bits >> 32) & mask] {
            let (word, flag) = (Int(bit) / UInt64.bitWidth, UInt64(1) << UInt64(bit % UInt(UInt64.bitWidth)))
            if field[word] & flag == 0 { wereSet = false }
            field[word] |= flag
        }
        return wereSet
    }
}

/// Lines of a file in their order, each judged by those before it as an import would. The first one that takes a name
/// has it. Exact; it holds the lines that it was asked about.
struct EarlierLines {
    private struct Holder {
        let line: Int64
        let userID: UserID
        let bundleID: BundleID
    }

    private var byReference: [GrantReference: Holder] = [:]
    private var byKey: [GrantKey: Holder] = [:]

    /// The results of importing lines together that the ledger itself lets in.
    /// - Returns: For each the line that has its purchase, too; nil where that is itself.
    mutating func results(of grants: [Grant]) -> [(result: ImportResult, line: Int64?)] {
        let isNew = grants.map { take($0) }
        // As the ledger judges: once all were tried, and the row of the transaction before the one that shares the key.
        return zip(grants, isNew).map { grant, isNew in
            guard !isNew, let holder = byReference[grant.reference] ?? byKey[grant.key] else { return (.new, nil) }
            let isSame = holder.userID == grant.userID && holder.bundleID == grant.bundleID
            return (isSame ? .present : .taken, holder.line)
        }
    }

    /// - Returns: Whether both names were free.
    private mutating func take(_ grant: Grant) -> Bool {
        guard byReference[grant.reference] == nil, byKey[grant.key] == nil else { return false }
        let holder = Holder(line: grant.origin.offset, userID: grant.userID, bundleID: grant.bundleID)
        byReference[grant.reference] = holder
        byKey[grant.key] = holder
        return true
    }
}
