public import Synchronization

/// Messages from any number of threads to one owner, which takes all present ones at once.
///
/// Order is kept: messages of one sender arrive in the order in which it posted them. Posting costs a lock and, only
/// when the mailbox was empty, one write to the owner's ``WakeDescriptor``; under load most posts are free of it.
///
/// The bound states the design and limits nothing: each sender has limits of its own that keep the mailbox below it.
/// Debug builds trap beyond it, release builds go on, because to lose a message is worse than to hold it.
///
/// All of it is inlinable, so that it is specialised for its message in the module that uses it.
public final class Mailbox<Message: Sendable>: Sendable {
    @frozen
    @usableFromInline
    struct State: Sendable {
        @usableFromInline var messages: [Message] = []
        @usableFromInline var isClosed = false

        @inlinable
        init() {}
    }

    @usableFromInline let state: Mutex<State>
    /// Signalled when a message comes into the empty mailbox, and when it is closed.
    public let wake: WakeDescriptor
    @usableFromInline let bound: Int

    /// - Parameter bound: most messages that wait at once if every sender keeps its limits.
    /// - Throws: ``ThreadingError/noDescriptor(errno:)``.
    @inlinable
    public init(bound: Int) throws(ThreadingError) {
        state = Mutex(State())
        wake = try WakeDescriptor()
        self.bound = bound
    }

    /// Leaves a message for the owner.
    /// - Returns: false if the mailbox is closed; then the owner never sees the message, and the sender treats it as
    ///   failed.
    @inlinable
    @discardableResult
    public func post(_ message: Message) -> Bool {
        let count = state.withLock { state in
            if state.isClosed { return 0 }
            state.messages.append(message)
            return state.messages.count
        }
        assert(count <= bound, "A mailbox holds more messages than its design allows.")
        if count == 1 { wake.signal() }
        return count > 0
    }

    /// Leaves several messages for the owner, which stay together: one lock and at most one wake-up for all of them.
    /// - Returns: false if the mailbox is closed; then the owner sees none of them.
    @inlinable
    @discardableResult
    public func post(contentsOf messages: [Message]) -> Bool {
        let (count, wasEmpty) = state.withLock { state in
            if state.isClosed { return (-1, false) }
            let wasEmpty = state.messages.isEmpty
            state.messages.append(contentsOf: messages)
            return (state.messages.count, wasEmpty)
        }
        assert(count <= bound, "A mailbox holds more messages than its design allows.")
        if wasEmpty, count > 0 { wake.signal() }
        return count >= 0
    }

    /// Takes all messages, oldest first. For the owner, after it has waited for ``wake`` (or drained it).
    /// - Parameter buffer: receives the messages instead of its former content. Its memory goes to the mailbox in
    ///   exchange, so that neither side allocates in the long run. Empty it (`removeAll(keepingCapacity: true)`) before
    ///   sleeping, or the messages live on in it.
    @inlinable
    public func takeAll(into buffer: inout [Message]) {
        // Outside of the lock: it frees what the old messages held.
        buffer.removeAll(keepingCapacity: true)
        var taken = consume buffer
        state.withLock { swap(&$0.messages, &taken) }
        buffer = taken
    }

    /// Refuses every further message, and wakes the owner. Closing again closes nothing.
    /// - Returns: the messages that were posted and not taken; the owner fails them, too.
    @inlinable
    @discardableResult
    public func close() -> [Message] {
        defer { wake.signal() }
        return state.withLock { state in
            state.isClosed = true
            var rest: [Message] = []
            swap(&state.messages, &rest)
            return rest
        }
    }

    /// Whether it is closed: its owner takes the rest and ends.
    @inlinable
    public var isClosed: Bool { state.withLock { $0.isClosed } }
}
