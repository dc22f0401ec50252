import Dispatch
import Glibc

/// Ends the workers when this process is told to end; all else that was started ends with this process by itself.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    /// Watches for SIGINT and SIGTERM for as long as it lives.
    init(ending fleet: Fleet) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                Task {
                    await fleet.killAll()
                    // As a shell tells the end by a signal.
                    exit(128 + number)
                }
            }
            source.resume()
            return source
        }
    }
}
