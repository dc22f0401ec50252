import Scheduling

/// Whether the ledger is away: since a first call or batch failed, or had no result for long. All of them have a result
/// before it ends. Its beginning and its end are logged, and every ten minutes that it lasts.
struct LedgerOutage {
    /// A disk that hangs answers no call, and fails none.
    static let longestSilence: Duration = .seconds(30)

    private var reminder = Reminder()
    private var detail = ""
    /// A batch had no result, and is still to be written.
    var writesAreAway = false

    var since: Instant? { reminder.since }

    /// A call or batch failed. The detail is the latest one: after a full disk, a right may be missing.
    mutating func begin(_ detail: String, _ turn: inout Turn) {
        self.detail = detail
        if since == nil { tell(true, &turn) }
    }

    /// Silence says less than the failure that an outage began with.
    mutating func beginSilence(_ turn: inout Turn) {
        guard since == nil else { return }
        begin("A call has had no result for \(Self.longestSilence.components.seconds) s.", &turn)
    }

    /// Reports a lasting outage when that is due.
    mutating func remind(_ turn: inout Turn) {
        if since != nil { tell(true, &turn) }
    }

    /// Ends it, unless a batch is still to be written.
    mutating func end(_ turn: inout Turn) {
        if since != nil, !writesAreAway { tell(false, &turn) }
    }

    private mutating func tell(_ lasts: Bool, _ turn: inout Turn) {
        switch reminder.observe(lasts, at: turn.now) {
        case .lasts: turn.alert(.ledgerUnavailable(detail: detail))
        case .over(let time): turn.alert(.ledgerAvailable(after: time))
        case nil: break
        }
    }
}
