import Contract
import Foundation
import Ledger
import Logging
import Metrics
import Processing
import Synchronization
import Testing

@testable import Worker

@Suite("News for people on duty")
struct AlertNewsTests {
    private final class Lines: LogHandler {
        private let lines = Mutex<[(Logger.Level, Logger.Metadata)]>([])
        var taken: [(level: Logger.Level, metadata: Logger.Metadata)] { lines.withLock { $0 } }

        func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
            lines.withLock { $0.append((level, metadata)) }
        }
    }

    private static let group = HeldGroup(bundleID: "com.example.game", cause: .sharedSecretRefused)
    private static let origin = Origin(topic: "t", partition: 0, offset: 1)
    private static let endpoint = Endpoint(.verifyReceipt, .production)
    private let registry = PrometheusRegistry()
    private let lines = Lines()

    private func tell(_ alerts: [Alert]) -> [(level: Logger.Level, metadata: Logger.Metadata)] {
        AlertLog(
            logger: Logger(label: "test", level: .debug, handler: lines), metrics: WorkerMetrics(registry),
            topics: [.granted: "granted-here"]
        ).tell(alerts)
        return lines.taken
    }

    private func alerts() -> Int {
        registry.render().split(separator: "\n").filter { $0.hasPrefix("grantor_alerts_total{") }
            .reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
    }

    @Test("are errors where nothing is read or only a person ends the trouble")
    func errors() {
        let told = tell([
            .ledgerUnavailable(detail: "disk full"), .retriesFull(bytes: 2, limit: 1), .outboxFull,
            .held(Self.group, rows: 3, details: ["a", "b"]), .eventsNotTaken(.granted, cause: "too large"),
            .decisionRefused(Self.origin, detail: "x"), .laterVersion(rows: 1),
            .signedAhead(submissions: 2, example: "s"),
        ])
        #expect(told.map(\.level) == Array(repeating: .error, count: 8))
        #expect(alerts() == 8)
        #expect(told[4].metadata["topic"] == "granted-here")
    }

    @Test("are warnings where a person may have to look")
    func warnings() {
        let told = tell([
            .breakerOpened(Self.endpoint, fault: nil),
            .breakerStillOpen(Self.endpoint, after: .seconds(60), waiting: 9), .retriesHalfFull(bytes: 1, limit: 2),
            .quarantined(.userID, records: 4, example: Self.origin),
            .appMissing("com.example.new", submissions: 1, example: "s"),
        ])
        #expect(told.map(\.level) == Array(repeating: .warning, count: 5))
        #expect(alerts() == 5)
        #expect(
            told[3].metadata == ["kind": "quarantined", "reason": "user_id", "records": 4, "first": "\(Self.origin)"])
    }

    @Test("that trouble is over are notices, and count as no alert")
    func ends() {
        let told = tell([
            .breakerClosed(Self.endpoint, after: .seconds(90), waited: 5), .ledgerAvailable(after: .seconds(7)),
            .heldOver(Self.group, after: .seconds(1)), .laterVersionOver(after: .seconds(1)),
            .retriesHaveRoom(after: .seconds(1)), .outboxHasRoom(after: .seconds(1)),
            .eventsTaken(.failed, after: .seconds(1)),
        ])
        #expect(told.map(\.level) == Array(repeating: .notice, count: 7))
        #expect(alerts() == 0)
        #expect(told[0].metadata["away_seconds"] == .number(90))
        #expect(told[1].metadata["away_seconds"] == .number(7))
    }

    @Test("have the kind in their line under which the metric counts them, and the end of trouble has none")
    func kinds() {
        let told = tell([
            .outboxFull, .held(Self.group, rows: 3, details: []), .outboxHasRoom(after: .seconds(1)),
        ])
        #expect(told.map { $0.metadata["kind"] } == ["outbox_full", "held", nil])
    }

    @Test("of purchases that were passed over say why, and what a person does", arguments: PassedOver.Reason.allCases)
    func passedOver(reason: PassedOver.Reason) {
        let told = tell([.passedOver("com.example.game", "gem", reason, purchases: 2, example: "s1")])
        let isMended = [.productNotConfigured, .accountTokenMissing].contains(reason)
        #expect(told[0].metadata["kind"] == "passed_over" && told[0].metadata["reason"] == "\(reason.rawValue)")
        #expect("\(told[0].metadata["remedy"] ?? "")".hasSuffix("sent again under a new id") == isMended)
    }

    @Test("of what was held before the start are one warning with its number and age, and none is an information")
    func atStart() {
        let told = tell([
            .waitingAtStart(9, held: 4, oldest: .seconds(86_400)), .waitingAtStart(5, held: 0, oldest: nil),
        ])
        #expect(told.map(\.level) == [.warning, .info])
        #expect(told[0].metadata == ["waiting": 9, "held": 4, "oldest_held_seconds": 86_400])
        #expect(told[1].metadata == ["waiting": 5])
        #expect(alerts() == 0)
    }

    @Test("of inventory services say whose grants wait, and for what")
    func services() {
        let app: BundleID = "com.example.game"
        let told = tell([
            .calls(.serviceAway(app, fault: nil)), .calls(.serviceStillAway(app, after: .seconds(60), waiting: 9)),
            .calls(.grantsRefused(app, rows: 2)), .calls(.serviceMissing(app, rows: 3)),
            .calls(.serviceAnswers(app, after: .seconds(60), waited: 9)),
            .calls(.grantsRefusedOver(app, after: .seconds(60))), .calls(.serviceMissingOver(app, after: .seconds(1))),
            .calls(.callsOverdue(app, rows: 4, age: .seconds(360), fault: "HTTP 401")),
            .calls(.callsOverdueOver(app, after: .seconds(60))),
        ])
        #expect(
            told.map(\.level) == [.warning, .error, .error, .error, .notice, .notice, .notice, .error, .notice])
        #expect(
            told[7].metadata
                == [
                    "kind": "calls_overdue", "app": "com.example.game", "cause": "HTTP 401", "waiting": 4,
                    "oldest_seconds": 360,
                ])
        #expect(told.allSatisfy { $0.metadata["app"] == "com.example.game" })
        #expect(told[0].metadata["cause"] == "answers take too long" && told[1].metadata["waiting"] == 9)
        #expect(alerts() == 5)
    }

    @Test("have a row each in docs/operations.md, which says what to do")
    func documented() throws {
        // Tests/WorkerTests/Drivers/AlertNewsTests.swift
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(contentsOf: root.appending(path: "docs/operations.md"), encoding: .utf8)
        for kind in AlertNews.Kind.allCases { #expect(page.contains("| `\(kind.rawValue)`"), "\(kind) is missing") }
    }
}
