import Glibc
import Threading

/// The signals that concern a worker, taken by one thread that only waits for them: a signal handler could do next to
/// nothing.
public enum ProcessSignals {
    private static var ours: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, signal) }
        return set
    }

    /// Keeps the signals from this thread, and from every one that it starts from now on. They wait for the thread that
    /// takes them.
    ///
    /// The first thing that `grantor run` does. Until then SIGTERM and SIGINT end it. SIGHUP does so, too, or is lost
    /// where it is the first process of its container.
    @Sendable public static func block() {
        var set = ours
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // Writes to sockets and pipes that the other side closed end with EPIPE.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for signals for as long as the process lives.
    static func start(_ events: Mailbox<ProcessEvent>) throws(ThreadingError) -> OwnerThread {
        try OwnerThread(name: "signals", stackSize: 64 << 10) {
            var set = ours
            while true {
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                events.post(number == SIGHUP ? .reload : .stop)
            }
        }
    }
}
