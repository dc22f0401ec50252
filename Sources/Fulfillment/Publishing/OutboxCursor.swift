import Ledger

/// Decides what of the outbox is published next: a walk through what is unpublished, in ledger order, that does not
/// stop at an event the broker refuses.
struct OutboxCursor: Sendable {
    enum Step: Hashable, Sendable {
        /// Read the next entries after this sequence.
        case read(after: Int64)
        /// Everything was seen; look again when something was added.
        case rest
        /// Everything was seen, and some of it was refused: look again after a while.
        case restAfterFailures(Int)
    }

    private var position: Int64 = 0
    private var failedInPass = 0
    private var failedPasses = 0
    private var atEnd = false

    /// What to do now.
    mutating func next() -> Step {
        guard atEnd else { return .read(after: position) }
        atEnd = false
        position = 0
        guard failedInPass > 0 else {
            failedPasses = 0
            return .rest
        }
        failedInPass = 0
        failedPasses += 1
        return .restAfterFailures(failedPasses)
    }

    /// Entries were read and offered to the broker, which acknowledged some.
    ///
    /// - Parameter limit: how many were asked for; fewer means that there are no more.
    mutating func offered(_ entries: [OutboxEntry], acknowledged: Int, limit: Int) {
        failedInPass += entries.count - acknowledged
        if let last = entries.last { position = last.sequence }
        atEnd = entries.count < limit
    }
}
