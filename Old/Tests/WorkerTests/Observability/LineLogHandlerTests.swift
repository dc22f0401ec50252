import Foundation
import Logging
import Purchases
import Synchronization
import Testing

@testable import Worker

@Suite("Log handler")
struct LineLogHandlerTests {
    private final class Collector: Sendable {
        let lines = Mutex<[String]>([])
    }

    private struct Refused: Error {}

    private func destination(_ collector: Collector, _ format: LogSettings.Format) -> LogDestination {
        var settings = LogSettings()
        settings.format = format
        settings.level = .notice
        return LogDestination(
            settings: settings,
            output: LogOutput { bytes in collector.lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
            },
            now: { Timestamp(milliseconds: 0) })
    }

    @Test("Events below the level are not written, the others with the metadata of logger and event")
    func levels() {
        let collector = Collector()
        var logger = destination(collector, .text).logger(label: "worker")
        logger[metadataKey: "group"] = "grantor"
        logger.info("Hidden")
        logger.warning("Shown", metadata: ["topic": "t"])
        #expect(
            collector.lines.withLock { $0 } == [
                "1970-01-01T00:00:00.000Z warning worker: Shown group=grantor topic=t\n"
            ])
    }

    @Test("A JSON event is one object, an error with it becomes a field")
    func json() throws {
        let collector = Collector()
        destination(collector, .json).logger(label: "worker").error("Failed", error: Refused(), metadata: ["a": "b"])
        let line = try #require(collector.lines.withLock { $0.first })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        #expect(object["message"] == "Failed")
        #expect(object["level"] == "error")
        #expect(object["error"] == "Refused()")
        #expect(object["a"] == "b")
    }
}
