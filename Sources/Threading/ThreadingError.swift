internal import Glibc

/// The system refused a thread or a descriptor. Every case is for whoever starts the process to mend: the start fails.
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
