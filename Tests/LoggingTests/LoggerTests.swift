import Foundation
import Synchronization
import Testing

@testable import Logging

struct LineLogHandlerTests {
    private final class Collector: Sendable {
        private let collected = Mutex<[String]>([])
        var lines: [String] { collected.withLock { $0 } }

        func handler(_ format: LineLogHandler.Format) -> LineLogHandler {
            LineLogHandler(
                format: format, now: { 0 },
                write: { bytes in self.collected.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } })
        }
    }

    private let collector = Collector()

    @Test("Events below the level are not written, nor are their texts made")
    func belowLevel() {
        let logger = Logger(label: "worker", level: .notice, handler: collector.handler(.text))
        func unexpected() -> String {
            Issue.record("a text was made that nobody sees")
            return ""
        }
        logger.info(unexpected(), metadata: ["a": .text(unexpected())])
        logger.log(level: .debug, unexpected())
        logger.notice("Shown")
        #expect(collector.lines == ["1970-01-01T00:00:00.000Z notice worker: Shown\n"])
    }

    @Test("A JSON event is one object")
    func json() throws {
        let logger = Logger(label: "worker", handler: collector.handler(.json))
        logger.error("Failed", metadata: ["a": "b"])
        let line = try #require(collector.lines.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        #expect(object["message"] == "Failed")
        #expect(object["level"] == "error")
        #expect(object["a"] == "b")
    }

    @Test("Each level has its function, in rising order")
    func levels() {
        let logger = Logger(label: "l", level: .debug, handler: collector.handler(.text))
        logger.debug("m")
        logger.info("m")
        logger.notice("m")
        logger.warning("m")
        logger.error("m")
        logger.critical("m")
        let levels = collector.lines.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(levels == Logger.Level.allCases.map(\.rawValue))
        #expect(Logger.Level.allCases == Logger.Level.allCases.sorted())
    }

    @Test("Loggers of the process have its handler and level")
    func process() {
        LoggingSystem.bootstrap(handler: collector.handler(.text), level: .error)
        defer { LoggingSystem.bootstrap(handler: LineLogHandler(format: .text), level: .info) }
        let logger = Logger(label: "main")
        logger.warning("Hidden")
        logger.error("Shown")
        #expect(collector.lines.contains("1970-01-01T00:00:00.000Z error main: Shown\n"))
        #expect(!collector.lines.contains { $0.contains("Hidden") })
    }
}
