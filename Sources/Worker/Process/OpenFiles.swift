import Glibc
import Logging

/// How many files and connections the process may have open at once (getrlimit(2)).
enum OpenFiles {
    /// Taken beside the calls to Apple: the ledger, brokers, metrics, libraries.
    private static let beside = 100

    /// Raises the limit to the most that the process may give itself, and says so where that is too little: a connection that
    /// cannot be opened looks like a target that is away.
    ///
    /// - Parameter connections: most calls under way at once.
    static func allow(connections: Int, logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        guard limit.rlim_cur < rlim_t(connections + beside) else { return }
        logger.warning(
            "Fewer files may be open than calls to Apple under way; raise the limit of open files (ulimit -n, nofile)",
            metadata: ["limit": "\(limit.rlim_cur)", "needed": "\(connections + beside)"])
    }
}
