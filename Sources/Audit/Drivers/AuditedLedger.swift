import Contract
public import Ledger

/// A connection to the ledger that is audited. It stays on the thread that opened it.
public struct AuditedLedger {
    public let ledger: any LedgerOperator
    /// It may be behind the topics. Its checkpoints go with its rows, and the group's offsets do not.
    public let isStandby: Bool

    public init(_ ledger: any LedgerOperator, isStandby: Bool = false) {
        self.ledger = ledger
        self.isStandby = isStandby
    }

    static func opened(_ open: () throws(LedgerError) -> AuditedLedger) throws(AuditError) -> AuditedLedger {
        do throws(LedgerError) { return try open() } catch { throw .ledger(error) }
    }

    /// Reads a table from behind a row to its end.
    func read(
        _ table: AuditedTable, after: Int64 = .min, _ take: (AuditedRow) throws(AuditError) -> Void
    ) throws(AuditError) {
        var last = after
        while true {
            let rows = try page(table, after: last, limit: AuditLimits.page)
            for row in rows { try take(row) }
            guard rows.count == AuditLimits.page, let end = rows.last else { return }
            last = end.sequence
        }
    }

    func page(_ table: AuditedTable, after: Int64, limit: Int) throws(AuditError) -> [AuditedRow] {
        try asking { ledger throws(LedgerError) in try ledger.audited(table, after: after, limit: limit) }
    }

    func asking<Answer>(
        _ question: (any LedgerOperator) throws(LedgerError) -> Answer
    ) throws(AuditError) -> Answer {
        do throws(LedgerError) { return try question(ledger) } catch { throw .ledger(error) }
    }

    /// The sequence behind which rows of this table begin that are not older than a time. Rows are written about in the
    /// order of their times, so bisection finds it.
    func sequence(in table: AuditedTable, since time: Timestamp) throws(AuditError) -> Int64 {
        var (low, high) = (Int64(0), Fact.mostNumber)
        while low < high {
            let middle = low + (high - low) / 2
            guard let row = try page(table, after: middle, limit: 1).first else {
                high = middle
                continue
            }
            if row.orderedAt.map({ $0 < time }) ?? false { low = max(row.sequence, middle + 1) } else { high = middle }
        }
        return low
    }
}
