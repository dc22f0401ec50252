internal import CLinux
internal import Glibc
public import Scheduling

/// Watches descriptors for one thread: epoll, level-triggered (epoll(7)).
///
/// One thread waits on it. Other threads reach that thread through a mailbox whose
/// ``WakeDescriptor/descriptor`` is watched here like any other.
public struct Poller: ~Copyable, Sendable {
    /// The directions that a descriptor is watched for. Errors and hang-ups are reported in any case.
    @frozen
    public struct Interest: OptionSet, Sendable {
        public let rawValue: UInt8

        @inlinable
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let read = Interest(rawValue: 1)
        public static let write = Interest(rawValue: 2)
    }

    /// A watched descriptor that is ready.
    @frozen
    public struct Readiness: Hashable, Sendable {
        /// The number that the descriptor was added with.
        public let token: UInt64
        /// There is something to read, which may be the end.
        public let canRead: Bool
        public let canWrite: Bool
        /// The descriptor has an error, or both directions of its connection are closed: a read or write says which.
        public let hasFailed: Bool
    }

    /// Most readinesses of one wait; the next one reports the others.
    static let maxEventsPerWait = 256

    private let descriptor: Int32

    /// - Throws: ``ThreadingError/noDescriptor(errno:)``.
    public init() throws(ThreadingError) {
        let descriptor = grantor_epoll_create()
        guard descriptor >= 0 else { throw .noDescriptor(errno: errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Watches a descriptor from now on.
    /// - Parameter token: reported with it. Never give a closed descriptor's token to its successor. Events of one wait
    ///   may name a descriptor that its owner closed at an earlier event of the same wait.
    /// - Throws: ``ThreadingError/notWatched(errno:)``.
    public func add(_ descriptor: Int32, token: UInt64, for interest: Interest) throws(ThreadingError) {
        try control(EPOLL_CTL_ADD, descriptor, token, interest)
    }

    /// Changes the token and the directions that a watched descriptor is watched for.
    /// - Throws: ``ThreadingError/notWatched(errno:)``.
    public func modify(_ descriptor: Int32, token: UInt64, for interest: Interest) throws(ThreadingError) {
        try control(EPOLL_CTL_MOD, descriptor, token, interest)
    }

    /// Stops watching a descriptor. Closing one does the same, unless it was duplicated.
    public func remove(_ descriptor: Int32) {
        // Fails only if it is not watched.
        _ = grantor_epoll_control(self.descriptor, EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    /// Sleeps until a watched descriptor is ready or an instant has come (nil: never; the past: does not sleep).
    ///
    /// It may also end without any readiness before the instant, when a signal of the process interrupts it.
    /// - Parameter readinesses: receives the readinesses instead of its former content.
    public func wait(until deadline: Instant?, into readinesses: inout [Readiness]) {
        readinesses.removeAll(keepingCapacity: true)
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.maxEventsPerWait) { events in
            guard let start = events.baseAddress else { return }
            let count = epoll_wait(descriptor, start, Int32(events.count), Self.milliseconds(until: deadline))
            for index in 0..<max(Int(count), 0) {
                let event = start + index
                let flags = event.pointee.events
                readinesses.append(
                    Readiness(
                        token: grantor_epoll_data(event), canRead: flags & EPOLLIN.rawValue != 0,
                        canWrite: flags & EPOLLOUT.rawValue != 0,
                        hasFailed: flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0))
            }
        }
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ token: UInt64, _ interest: Interest
    ) throws(ThreadingError) {
        let events =
            (interest.contains(.read) ? EPOLLIN.rawValue : 0) | (interest.contains(.write) ? EPOLLOUT.rawValue : 0)
        guard grantor_epoll_control(self.descriptor, operation, descriptor, token, events) == 0 else {
            throw .notWatched(errno: errno)
        }
    }

    /// Whole milliseconds, upwards: downwards the last one would be spent in waits of zero.
    private static func milliseconds(until deadline: Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let rest = max((deadline - .now).clampedNanoseconds, 0)
        return Int32(clamping: rest / 1_000_000 + (rest % 1_000_000 == 0 ? 0 : 1))
    }
}
