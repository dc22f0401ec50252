internal import CLibpq
import Foundation

/// A thread for calls of libpq's that block.
enum PostgresThread {
    /// Runs `body` on a thread of its own, with every signal blocked: OpenSSL writes to sockets that the other side may have
    /// closed, and the SIGPIPE of that is nobody's.
    static func start(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread {
            var signals = sigset_t()
            sigfillset(&signals)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            // Linux keeps the first 15 bytes.
            grantor_name_database_thread("postgres")
            body()
        }
        thread.start()
    }
}
