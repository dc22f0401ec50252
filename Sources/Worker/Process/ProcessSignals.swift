import Glibc
import Processing
import Threading

/// News for the process's main thread.
enum ProcessEvent: Sendable {
    /// SIGTERM or SIGINT: stop in order.
    case stop
    /// SIGHUP: read the apps file again.
    case reload
    /// The core is done.
    case stopped(StopReason)
    /// Kafka's client cannot go on; a new process can.
    case kafkaFailed(String)
}

/// The signals that concern a worker, taken by one thread that waits for nothing else: a handler could do next to nothing.
enum ProcessSignals {
    private static var ours: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, signal) }
        return set
    }

    /// Keeps the signals from every thread that is started from now on.
    static func block() {
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
