import Logging
import Synchronization

/// Keeps what is logged.
final class RecordingLog: Sendable {
    struct Line: Hashable, Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]
    }

    private let kept = Mutex<[Line]>([])

    var lines: [Line] { kept.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(
                level: event.level, message: event.message.description,
                metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
            log.kept.withLock { $0.append(line) }
        }
    }
}
