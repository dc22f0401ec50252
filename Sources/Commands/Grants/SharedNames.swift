import Contract
import Ledger

/// Finds the lines of a file that may stand in each other's way, in bounded memory. Each name that a line takes sets
/// two bits of a field. A name whose bits were both set may have come before, and is looked at again. No name that came
/// before is missed.
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

    /// - Parameter size: Bytes of the file. A line has more than a hundred of them, so a bit for each byte is enough.
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

/// Lines of a file in their order, each judged by the lines before it, as an import does. The first line with a name
/// has it. The result is exact, because all judged lines are held.
struct EarlierLines {
    private struct Holder {
        let reference: GrantReference
        let line: Int64
        let userID: UserID
        let bundleID: BundleID
    }

    private var byReference: [GrantReference: Holder] = [:]
    private var byKey: [GrantKey: Holder] = [:]

    /// The results of importing lines together that the ledger itself lets in.
    /// - Returns: For each also the line that has its purchase; nil where that is the line itself.
    mutating func results(of grants: [Grant]) -> [(result: ImportResult, line: Int64?)] {
        let isNew = grants.map { take($0) }
        // As the ledger judges: after all were tried, and first by the transaction's row, then by that of the key.
        return zip(grants, isNew).map { grant, isNew in
            guard !isNew, let holder = byReference[grant.reference] ?? byKey[grant.key] else { return (.new, nil) }
            let isSame = holder.userID == grant.userID && holder.bundleID == grant.bundleID
            guard isSame else { return (.taken, holder.line) }
            return (holder.reference == grant.reference ? .present : .presentUnderAnother, holder.line)
        }
    }

    /// - Returns: Whether both names were free.
    private mutating func take(_ grant: Grant) -> Bool {
        guard byReference[grant.reference] == nil, byKey[grant.key] == nil else { return false }
        let holder = Holder(
            reference: grant.reference, line: grant.origin.offset, userID: grant.userID, bundleID: grant.bundleID)
        byReference[grant.reference] = holder
        byKey[grant.key] = holder
        return true
    }
}
