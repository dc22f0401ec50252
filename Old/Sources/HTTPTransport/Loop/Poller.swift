internal import CLibcurl
import Glibc
import Synchronization

/// What happened to a descriptor, in libcurl's terms.
struct Readiness {
    let descriptor: Int32
    /// Who asked for it to be watched.
    let owner: UInt32
    let canRead: Bool
    let canWrite: Bool
    let hasError: Bool
}

/// epoll, level-triggered, with an eventfd that any thread can wake it by.
///
/// Sendable because its two descriptors never change and the kernel guards what is behind them, and the rest is atomic;
/// ``wait(milliseconds:_:)`` is for one thread at a time, which owns the loop.
final class Poller: Sendable {
    /// More are delivered by the next call.
    private static let maxEventsPerWait = 256
    private let poller: Int32
    private let wakeDescriptor: Int32
    /// Whether a ``wait(milliseconds:_:)`` may be under way. Waking writes to the kernel, which is worth it only then.
    private let isAsleep = Atomic(false)
    /// Whether somebody called since the last ``wait(milliseconds:_:)`` ended.
    private let isCalled = Atomic(false)
    private let refused = Atomic(0)

    init() throws(HTTPTransportError) {
        let poller = grantor_epoll_create()
        guard poller >= 0 else { throw .resourcesExhausted("epoll_create1", errno: errno) }
        let wakeDescriptor = grantor_wake_descriptor()
        guard wakeDescriptor >= 0 else {
            let reason = errno
            close(poller)
            throw .resourcesExhausted("eventfd", errno: reason)
        }
        self.poller = poller
        self.wakeDescriptor = wakeDescriptor
        guard grantor_epoll_control(poller, EPOLL_CTL_ADD, wakeDescriptor, 0, EPOLLIN.rawValue) == 0 else {
            // All members are set, so deinit runs and closes both.
            throw .resourcesExhausted("epoll_ctl", errno: errno)
        }
    }

    deinit {
        close(wakeDescriptor)
        close(poller)
    }

    /// Ends a ``wait(milliseconds:_:)`` under way, or the next one. What was done before is seen after the wait.
    func wake() {
        // Each side first writes and then reads, in one order for both: either this sees the sleeper, or it sees the call.
        guard !isCalled.exchange(true, ordering: .sequentiallyConsistent),
            isAsleep.load(ordering: .sequentiallyConsistent)
        else { return }
        var one: UInt64 = 1
        // Fails only when the counter is at its maximum, and then a wake-up is already due.
        _ = write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Watches a descriptor from now on. One that the kernel has no room for is counted (``unwatched``).
    ///
    /// - Parameter owner: What is reported with it.
    func watch(_ descriptor: Int32, owner: UInt32, read: Bool, write: Bool) {
        let events = (read ? EPOLLIN.rawValue : 0) | (write ? EPOLLOUT.rawValue : 0)
        if grantor_epoll_control(poller, EPOLL_CTL_MOD, descriptor, owner, events) == 0 { return }
        // Not known, or known and closed since, which the kernel forgets by itself.
        guard errno == ENOENT, grantor_epoll_control(poller, EPOLL_CTL_ADD, descriptor, owner, events) == 0 else {
            refused.add(1, ordering: .relaxed)
            return
        }
    }

    /// Descriptors that could not be watched, so far.
    var unwatched: Int { refused.load(ordering: .relaxed) }

    /// Watches a descriptor no more; one that is closed already is no error.
    func forget(_ descriptor: Int32) {
        _ = grantor_epoll_control(poller, EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    /// Sleeps until something happens or the time is over, and reports what did. Wake-ups are not reported.
    func wait(milliseconds: Int32, _ report: (Readiness) -> Void) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.maxEventsPerWait) { events in
            isAsleep.store(true, ordering: .sequentiallyConsistent)
            let limit = isCalled.load(ordering: .sequentiallyConsistent) ? 0 : milliseconds
            // Interrupted (-1) counts as nothing: the loop comes by again.
            let count = Int(max(epoll_wait(poller, events.baseAddress, Int32(events.count), limit), 0))
            isAsleep.store(false, ordering: .sequentiallyConsistent)
            // Who calls from here on may come after the loop has looked, so the next wait ends at once. Read as well as
            // written, so that what callers did before is seen from here on.
            _ = isCalled.exchange(false, ordering: .sequentiallyConsistent)
            for index in 0..<count {
                guard let event = events.baseAddress?.advanced(by: index) else { return }
                let descriptor = grantor_epoll_descriptor(event)
                if descriptor == wakeDescriptor {
                    var counter: UInt64 = 0
                    _ = read(wakeDescriptor, &counter, MemoryLayout<UInt64>.size)
                } else {
                    let flags = event.pointee.events
                    report(
                        Readiness(
                            descriptor: descriptor, owner: grantor_epoll_owner(event),
                            canRead: flags & EPOLLIN.rawValue != 0,
                            canWrite: flags & EPOLLOUT.rawValue != 0,
                            hasError: flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0))
                }
            }
        }
    }
}
