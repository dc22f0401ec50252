import Logging
import Synchronization

/// Keeps the lines of a log that are above debug: level, message and the values of the metadata.
final class TestLines: LogHandler {
    private let lines = Mutex<[String]>([])
    var taken: [String] { lines.withLock { $0 } }

    func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
        guard level > .debug else { return }
        let words = ["\(level)", message] + metadata.sorted { $0.key < $1.key }.map(\.value.description)
        lines.withLock { $0.append(words.joined(separator: " ")) }
    }
}
