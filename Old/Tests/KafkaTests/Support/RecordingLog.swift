import Logging
import Synchronization

/// Keeps what librdkafka and the wrapper say.
final class RecordingLog: Sendable {
    private let kept = Mutex<[String]>([])

    /// Each line's message and metadata.
    var lines: [String] { kept.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "kafka-tests") { _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let text = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value)" }
            log.kept.withLock { $0.append(([event.message.description] + text).joined(separator: " ")) }
        }
    }
}
