/// Compares facts as they come, sorted. A fact that does not fit is only suspected: workers went on meanwhile. So it is
/// looked at again before it is called an inconsistency.
struct Judge {
    /// A fact without its counterpart.
    struct Suspicion: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case noOutcome
            case notQuarantined
            case untold
            case stray
            case altered
            case keyTwice
            case purchaseTwice
            case toldBeforeCall
        }

        let kind: Kind
        let fact: Fact
        /// The row that an altered copy differs from.
        var row: Fact?
    }

    /// The table whose events each partition has; nil for the others.
    private let tables: [EventTable?]
    private let blind: Set<EventTable>
    private(set) var suspicions: [Suspicion] = []
    /// Suspicions beyond ``AuditLimits/suspicions``.
    private(set) var unexamined = 0
    /// Rows without an event that may have left its topic again, or whose topic could not be read.
    private(set) var gone: [EventTable: Int] = [:]

    // Of the name that is looked at.
    private var key: AuditKey?
    private var row: Fact?
    private var isTold = false
    /// Whether the row's own topic has its event's id with other bytes. One more event under that id would contradict
    /// it, so its row never counts as untold.
    private var isAltered = false
    private var hasOutcome = false
    private var purchase: Fact?
    private var contents: [UInt64] = []

    /// - Parameter blind: Tables whose topic was not read to its end, so that no event of theirs counts as missing.
    init(tables: [EventTable?], blind: Set<EventTable> = []) {
        self.tables = tables
        self.blind = blind
    }

    mutating func take(_ fact: Fact) {
        if fact.key != key { begin(fact.key) }
        switch fact.kind {
        case .row, .owedRow, .callOwedRow, .openRow, .goneRow, .unknownRow:
            if row == nil { row = fact } else { suspect(.keyTwice, fact) }
        case .copy: take(copy: fact)
        case .outcome: hasOutcome = true
        case .record: if !hasOutcome { suspect(.noOutcome, fact) }
        case .quarantined: if contents.count < AuditLimits.contents { contents.append(fact.digest) }
        case .unreadable:
            if !contents.contains(fact.digest), !contents.contains(QuarantinedContent.anything) {
                suspect(.notQuarantined, fact)
            }
        case .purchase: if purchase == nil { purchase = fact } else { suspect(.purchaseTwice, fact) }
        }
    }

    private mutating func take(copy: Fact) {
        guard let row else { return suspect(.stray, copy) }
        guard row.kind != .unknownRow else { return isTold = true }
        let isAtHome = tables[copy.partition]?.rawValue == row.partition
        guard isAtHome, row.digest == copy.digest else {
            if isAtHome { isAltered = true }
            return suspect(.altered, copy, of: row)
        }
        if row.kind == .callOwedRow, !isTold { suspect(.toldBeforeCall, row) }
        isTold = true
    }

    /// After the last fact.
    mutating func finish() { begin(nil) }

    private mutating func begin(_ next: AuditKey?) {
        let isUntold = !isTold && !isAltered
        if let row, isUntold, row.kind == .row || row.kind == .goneRow, let table = EventTable(rawValue: row.partition)
        {
            if row.kind == .goneRow || blind.contains(table) {
                gone[table, default: 0] += 1
            } else {
                suspect(.untold, row)
            }
        }
        key = next
        row = nil
        isTold = false
        isAltered = false
        hasOutcome = false
        purchase = nil
        contents.removeAll(keepingCapacity: true)
    }

    private mutating func suspect(_ kind: Suspicion.Kind, _ fact: Fact, of row: Fact? = nil) {
        guard suspicions.count < AuditLimits.suspicions else { return unexamined += 1 }
        suspicions.append(Suspicion(kind: kind, fact: fact, row: row))
    }
}
