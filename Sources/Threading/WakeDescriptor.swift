internal import CLinux
internal import Glibc
public import Scheduling

/// Wakes a thread (`eventfd(2)`). Any thread signals it. Its owner waits for it, alone or among other descriptors.
///
/// Any number of signals before a ``drain()`` count as one. All writes before a signal are visible after the wait that
/// it ends.
public final class WakeDescriptor: Sendable {
    /// Readable from a signal on until the next ``drain()``. It is this object's to close.
    public let descriptor: Int32

    /// - Throws: ``ThreadingError/noDescriptor(errno:)``.
    public init() throws(ThreadingError) {
        descriptor = grantor_eventfd()
        guard descriptor >= 0 else { throw .noDescriptor(errno: errno) }
    }

    deinit {
        // Negative if there was none; nothing else closes it.
        if descriptor >= 0 { close(descriptor) }
    }

    /// Ends the wait under way, or the next one. Never blocks.
    public func signal() {
        var one: UInt64 = 1
        // Fails only while the counter is at its maximum, and then the descriptor is readable already.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Takes the signals so far. An owner that watches the descriptor elsewhere (epoll) calls this before it looks for
    /// work. In the other order it would miss work that comes in between.
    public func drain() {
        var count: UInt64 = 0
        // Fails only if there is no signal.
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    /// Sleeps until there is a signal, or an instant has come (nil: never), and drains.
    /// - Returns: whether there was a signal.
    @discardableResult
    public func wait(until deadline: Instant? = nil) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = Self.poll(&entry, until: deadline)
            if count > 0 {
                drain()
                return true
            }
            if count == 0 { return false }
            // Interrupted by a signal of the process: the deadline stands.
        }
    }

    private static func poll(_ entry: inout pollfd, until deadline: Instant?) -> Int32 {
        guard let deadline else { return ppoll(&entry, 1, nil, nil) }
        let rest = max((deadline - .now).clampedNanoseconds, 0)
        var limit = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
        return ppoll(&entry, 1, &limit, nil)
    }
}

/// The system refused a thread or a descriptor. The start fails, and a person must mend the cause.
public enum ThreadingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The process may have no more threads (`ulimit -u`, a container's limit of pids) or no memory for one's stack.
    case noThread(errno: Int32)
    /// The process may have no more descriptors (`ulimit -n`), or the kernel has no memory for one.
    case noDescriptor(errno: Int32)
    /// The kernel watches no more descriptors for this user (`fs.epoll.max_user_watches`), or the descriptor is not one
    /// that can be watched.
    case notWatched(errno: Int32)

    public var description: String {
        switch self {
        case .noThread(let errno): "no thread can be started: \(Self.reason(errno))"
        case .noDescriptor(let errno): "no descriptor can be had: \(Self.reason(errno))"
        case .notWatched(let errno): "a descriptor cannot be watched: \(Self.reason(errno))"
        }
    }

    private static func reason(_ errno: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress, strerror_r(errno, start, buffer.count) == 0 else {
                return "error \(errno)"
            }
            return String(cString: start)
        }
    }
}
