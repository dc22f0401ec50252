import Configuration
import Contract
import Ledger
import Metrics
import Testing

@testable import Worker

@Suite("Worker metrics")
struct WorkerMetricsTests {
    private static let submission = Submission(
        claimant: Claimant(
            submissionID: "s", userID: "u", bundleID: "com.example.game", orderID: nil, traceparent: nil),
        claim: .nothing,
        evidence: .receipt(base64: "AAAA"), origin: Origin(topic: "t", partition: 0, offset: 0),
        receivedAt: Timestamp(milliseconds: 0))

    private func decision(_ passedOver: PassedOver?) throws -> Decision {
        let purchase = Purchase(
            transactionID: "1", originalTransactionID: "1", webOrderLineItemID: nil, productID: "gems", quantity: 1,
            environment: .production,
            purchasedAt: Timestamp(milliseconds: 0), expiresAt: nil, revokedAt: nil, isUpgraded: false,
            ownership: .purchased, appAccountToken: nil, type: nil, payment: nil, offer: nil)
        let product = Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: 1)])
        var granted = try #require(GrantablePurchase(purchase, of: product))
        granted.passedOver = passedOver
        let partition = TopicPartition(topic: "t", partition: 0)
        return Decision(
            subject: .submission(Self.submission),
            source: .record(PartitionOwnership(partition: partition, generation: Generation(rawValue: 1))),
            content: .grant([granted], by: .verifyReceipt), attempts: 1, decidedAt: Timestamp(milliseconds: 0),
            owesCall: false, tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
    }

    @Test("count what the ledger says is passed over, by reason, and have each reason from the start")
    func passedOver() throws {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        func line(_ reason: PassedOver.Reason, _ count: Int) -> String {
            "grantor_purchases_passed_over_total{reason=\"\(reason.rawValue)\"} \(count)\n"
        }
        for reason in PassedOver.Reason.allCases { #expect(registry.render().contains(line(reason, 0))) }
        let passedOver = PassedOver(
            (1...20).map { PassedOver.Entry(TransactionID("\($0)"), "old", .subscriptionExpired) }
                + [PassedOver.Entry("99", "new", .productNotConfigured)])
        let results: [DecisionResult] = [
            .written(.granted(created: 1), publish: [], passedOver: passedOver?.counts ?? [:]),
            .written(.redelivery, publish: []), .written(.repeated, publish: []),
            .written(.repeated, publish: [], passedOver: [.partialRefund: 2]), .nothingNew, .notOwned,
        ]
        metrics.wrote(
            try results.map { _ in try decision(passedOver) }, results, took: .zero, now: Timestamp(milliseconds: 0))
        #expect(registry.render().contains(line(.subscriptionExpired, 20)), "once, for the decision that granted")
        #expect(registry.render().contains(line(.productNotConfigured, 1)))
        #expect(registry.render().contains(line(.partialRefund, 2)), "a repeat's")
    }

    @Test("time a grant from the record's own moment, and neither a failure nor a step on the way")
    func answers() throws {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        let results: [DecisionResult] = [
            .written(.granted(created: 1), publish: []), .written(.repeated, publish: []),
            .written(.redelivery, publish: []), .written(.retrying(.unreachable), publish: []),
            .written(.held(.credentialsRefused), publish: []),
            .written(.failed(reason: "unknown_product"), publish: []),
        ]
        metrics.wrote(
            try results.map { _ in try decision(nil) }, results, took: .zero, now: Timestamp(milliseconds: 4000))
        let text = registry.render()
        #expect(text.contains("grantor_received_to_written_seconds_count 2\n"))
        #expect(text.contains("grantor_received_to_written_seconds_sum 8\n"))
    }

    @Test("say what waits for which endpoint and which person, and that nothing does any more")
    func waiting() {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        func says(_ line: String) -> Bool { registry.render().contains(line + "\n") }
        let held = LedgerMeasure.Held("com.example.game", .credentialsRefused, rows: 2, [])
        let others = LedgerMeasure.Held("com.example.other", .credentialsRefused, rows: 3, [])
        let waiting = LedgerMeasure.Waiting(endpoint: Endpoint(.verifyReceipt, .production), rows: 7)
        metrics.measured(
            LedgerMeasure(retries: [], waiting: [waiting], held: [held, others], outboxRows: 0, outboxAge: 0))
        #expect(says(#"grantor_waiting_rows{service="verify_receipt",environment="production"} 7"#))
        #expect(says(#"grantor_waiting_rows{service="server_api",environment="production"} 0"#))
        #expect(says(#"grantor_held_rows{cause="credentials_refused"} 5"#))
        metrics.measured(LedgerMeasure(retries: [], waiting: [], held: [], outboxRows: 0, outboxAge: 0))
        #expect(says(#"grantor_waiting_rows{service="verify_receipt",environment="production"} 0"#))
        #expect(says(#"grantor_held_rows{cause="credentials_refused"} 0"#))
    }

    @Test("have each kind of news from the start, and the version")
    func fromTheStart() {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        for kind in AlertLog.Kind.allCases {
            #expect(registry.render().contains("grantor_alerts_total{kind=\"\(kind.rawValue)\"} 0\n"))
        }
        #expect(registry.render().contains("grantor_submissions_failed_total{reason=\"unknown_product\"} 0\n"))
        metrics.alert(.held)
        #expect(registry.render().contains("grantor_alerts_total{kind=\"held\"} 1\n"))
        #expect(registry.render().contains("grantor_build_info{version=\"\(programVersion)\"} 1\n"))
    }
}
