import Contract
import Scheduling

/// Whether the ledger is away: since a first call or batch failed, or had no result for long. All of them have a result
/// before it ends. Each beginning and each end is told.
struct LedgerOutage {
    /// A disk that hangs answers no call, and fails none.
    static let longestSilence: Duration = .seconds(30)

    private(set) var since: Instant?
    /// A batch had no result, and is still to be written.
    var writesAreAway = false

    mutating func begin(_ detail: String, _ turn: inout Turn) {
        guard since == nil else { return }
        since = turn.now
        turn.alert(.ledgerUnavailable(detail: detail))
    }

    mutating func beginSilence(_ turn: inout Turn) {
        begin("A call has had no result for \(Self.longestSilence.components.seconds) s.", &turn)
    }

    /// Ends it, unless a batch is still to be written.
    mutating func end(_ turn: inout Turn) {
        guard let began = since, !writesAreAway else { return }
        since = nil
        turn.alert(.ledgerAvailable(after: turn.now - began))
    }
}
