import Contract
import Scheduling
import Synchronization

/// The ledger's clock as this host sees it. Workers on several hosts compare moments that others stored, such as the
/// last reply of a doubt. So all of them use the one clock that they share.
final class LedgerClock: Sendable {
    private let lead = Atomic<Int64>(0)

    /// - Parameter lead: How many milliseconds it is ahead of this host's.
    func found(lead: Int64) { self.lead.store(lead, ordering: .relaxed) }

    /// The moment there when it is this moment here.
    func moment(of wall: Timestamp) -> Timestamp {
        wall.advanced(by: .milliseconds(lead.load(ordering: .relaxed)))
    }
}
