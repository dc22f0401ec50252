import Configuration
import Contract
import Fulfilment
import Glibc
import Ledger
import MemberTesting
import Metrics
import Synchronization
import Testing
import Threading

@testable import Processing
@testable import Worker

@Suite("Worker metrics")
struct WorkerMetricsTests {
    private func decision(app: BundleID = "com.example.game") throws -> Decision {
        let product = Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: 1)])
        let granted = try #require(GrantablePurchase(.sample("1"), of: product))
        let partition = TopicPartition(topic: "t", partition: 0)
        return Decision(
            subject: .submission(
                Submission(
                    claimant: Claimant(
                        submissionID: "s", userID: "u", bundleID: app, orderID: nil, traceparent: nil),
                    claim: .nothing, evidence: .receipt(base64: "AAAA"),
                    origin: Origin(topic: "t", partition: 0, offset: 0), receivedAt: Timestamp(milliseconds: 0))),
            source: .record(PartitionOwnership(partition: partition, generation: Generation(rawValue: 1))),
            content: .grant([granted], by: .verifyReceipt), attempts: 1, decidedAt: Timestamp(milliseconds: 0),
            owesCall: false, tellsWaiting: false, repeats: .publish, doubtsNothingNew: false)
    }

    @Test("count what the core says is passed over, by reason, and have each reason from the start")
    func passedOver() {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        func line(_ reason: PassedOver.Reason, _ count: Int) -> String {
            "grantor_purchases_passed_over_total{reason=\"\(reason.rawValue)\"} \(count)\n"
        }
        for reason in PassedOver.Reason.allCases { #expect(registry.render().contains(line(reason, 0))) }
        for total in [3, 20] {
            metrics.show(
                CoreStatus(
                    submissions: [:], quarantined: [:], passedOver: [.subscriptionExpired: total], bytes: 0,
                    partitionsAssigned: 0, partitionsOwned: 0, gates: [], services: CoreStatus.Services(),
                    readingStop: nil))
            #expect(registry.render().contains(line(.subscriptionExpired, total)))
        }
        #expect(registry.render().contains(line(.productNotConfigured, 0)))
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
            try results.map { _ in try decision() }, results, took: .zero, now: Timestamp(milliseconds: 4000))
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
        let waiting = LedgerMeasure.Waiting(
            endpoint: Endpoint(.verifyReceipt, .production), rows: 7, oldest: Timestamp(milliseconds: 500))
        metrics.measured(
            LedgerMeasure(
                retries: [], waiting: [waiting], held: [held, others], outboxRows: 0, outboxAge: 0,
                takenAt: Timestamp(milliseconds: 3000)))
        #expect(says(#"grantor_submissions_retrying{service="verify_receipt",environment="production"} 7"#))
        #expect(says(#"grantor_submissions_retrying{service="server_api",environment="production"} 0"#))
        #expect(
            says(
                #"grantor_submissions_retrying_oldest_seconds{service="verify_receipt",environment="production"} 2.5"#))
        #expect(says(#"grantor_submissions_held{app="other",cause="credentials_refused"} 5"#))
        metrics.measured(LedgerMeasure(retries: [], waiting: [], held: [], outboxRows: 0, outboxAge: 0))
        #expect(says(#"grantor_submissions_retrying{service="verify_receipt",environment="production"} 0"#))
        #expect(
            says(#"grantor_submissions_retrying_oldest_seconds{service="verify_receipt",environment="production"} 0"#))
        #expect(says(#"grantor_submissions_held{app="other",cause="credentials_refused"} 0"#))
    }

    @Test("have each kind of news from the start, and the version")
    func fromTheStart() {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        for kind in AlertNews.Kind.allCases {
            #expect(registry.render().contains("grantor_alerts_total{kind=\"\(kind.rawValue)\"} 0\n"))
        }
        #expect(registry.render().contains("grantor_submissions_failed_total{reason=\"unknown_product\"} 0\n"))
        metrics.alert(.held)
        #expect(registry.render().contains("grantor_alerts_total{kind=\"held\"} 1\n"))
        #expect(
            registry.render().contains("grantor_build_info{version=\"\(programVersion)\",ledger=\"sqlite\"} 1\n"))
        for line in [
            #"grantor_decisions_total{outcome="granted"} 0"#,
            #"grantor_submissions_finished_total{app="other",outcome="failed"} 0"#,
            #"grantor_submissions_held{app="other",cause="shared_secret_refused"} 0"#,
            #"grantor_submissions_waiting{app="other",state="retrying"} 0"#,
            #"grantor_waits_total{state="held",cause="shared_secret_refused"} 0"#,
            #"grantor_records_quarantined_total{reason="user_id"} 0"#,
            #"grantor_grants_created_total{environment="sandbox"} 0"#,
            #"grantor_ledger_unavailable_total{connection="side"} 0"#, "grantor_answers_pruned_total 0",
            "grantor_prune_failures_total 0",
            #"grantor_apple_breaker_openings_total{service="server_api",environment="production"} 0"#,
            #"grantor_apple_replies_total{service="server_api",environment="production",status="429"} 0"#,
            #"grantor_apple_codes_total{service="verify_receipt",environment="sandbox",code="21004"} 0"#,
        ] { #expect(registry.render().contains(line + "\n"), "\(line)") }
    }

    @Test("tell decisions, of which a submission that waits has several, from its one last outcome")
    func finished() throws {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        metrics.appsFileTaken(["com.example.game"], services: [], at: Timestamp(milliseconds: 1500))
        let results: [DecisionResult] = [
            .written(.held(.credentialsRefused), publish: []), .written(.held(.credentialsRefused), publish: []),
            .written(.granted(created: 2), publish: []), .written(.redelivery, publish: []),
            .written(.failed(reason: "unknown_product"), publish: []), .notOwned,
        ]
        metrics.wrote(
            try results.map { _ in try decision() }, results, took: .zero, now: Timestamp(milliseconds: 0))
        let text = registry.render()
        for line in [
            #"grantor_decisions_total{outcome="held"} 2"#, #"grantor_decisions_total{outcome="granted"} 1"#,
            #"grantor_decisions_total{outcome="redelivery"} 1"#,
            #"grantor_submissions_finished_total{app="com.example.game",outcome="granted"} 1"#,
            #"grantor_submissions_finished_total{app="com.example.game",outcome="failed"} 1"#,
            #"grantor_submissions_finished_total{app="other",outcome="granted"} 0"#,
            #"grantor_grants_created_total{environment="production"} 2"#,
            "grantor_apps_file_reload_successful 1", "grantor_apps_file_read_timestamp_seconds 1.5",
        ] { #expect(text.contains(line + "\n"), "\(line)") }
    }

    @Test("tell calls to inventory services by app, also of those that no apps file names any more")
    func services() {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        #expect(registry.render().contains("grantor_fulfilment_refused{app=\"other\"} 0\n"))
        metrics.appsFileTaken(["a", "b"], services: ["a"], at: Timestamp(milliseconds: 0))
        #expect(registry.render().contains("grantor_fulfilment_owed{app=\"a\"} 0\n"))
        metrics.fulfilment.called("a", .accepted, took: .seconds(1))
        metrics.fulfilment.called("b", .refused, took: .seconds(1))
        metrics.measured(
            LedgerMeasure(
                retries: [], waiting: [],
                calls: [
                    .init(bundleID: "a", rows: 3, refused: 1, oldest: Timestamp(milliseconds: 1_000)),
                    .init(bundleID: "gone", rows: 2, refused: 0, oldest: Timestamp(milliseconds: 4_000)),
                    .init(bundleID: "lost", rows: 1, refused: 0, oldest: Timestamp(milliseconds: 3_000)),
                ], outboxRows: 6, outboxAge: 0, takenAt: Timestamp(milliseconds: 11_000)))
        let text = registry.render()
        for line in [
            #"calls_total{app="a",result="accepted"} 1"#, #"calls_total{app="other",result="refused"} 1"#,
            #"calls_total{app="a",result="unanswered"} 0"#, "call_seconds_count 2", #"owed{app="a"} 3"#,
            #"owed{app="other"} 3"#, #"refused{app="a"} 1"#, #"oldest_seconds{app="a"} 10"#,
            #"oldest_seconds{app="other"} 8"#, #"breakers{phase="open"} 0"#, "calls_in_flight 0",
        ] { #expect(text.contains("grantor_fulfilment_" + line + "\n"), "\(line)") }
        metrics.appsFileTaken(["a", "lost"], services: ["a", "b", "lost"], at: Timestamp(milliseconds: 0))
        for line in ["a\"} 3", "b\"} 0", "lost\"} 1", "other\"} 2"] {
            #expect(
                registry.render().contains("grantor_fulfilment_owed{app=\"\(line)\n"), "\(line), by the last sample")
        }
        metrics.appsFileTaken(["b"], services: ["b"], at: Timestamp(milliseconds: 0))
        #expect(registry.render().contains("grantor_fulfilment_owed{app=\"a\"} 3\n"), "no app drops out")
        metrics.measured(LedgerMeasure(retries: [], waiting: [], outboxRows: 0, outboxAge: 0))
        #expect(registry.render().contains("grantor_fulfilment_owed{app=\"a\"} 0\n"))
    }

    @Test("show no sample of what services are owed behind a newer one, when the apps file is read again meanwhile")
    func reloaded() throws {
        let rounds = 200
        let registry = PrometheusRegistry()
        let metrics = FulfilmentMetrics(registry)
        let apps = (0..<AppMetrics.most).map { BundleID("app-\($0)") }
        metrics.add(apps)
        // Both threads begin each round at once.
        let begun = Atomic(0)
        let ended = Atomic(0)
        let reader = try OwnerThread(name: "reader") {
            for round in 1...rounds {
                while begun.load(ordering: .sequentiallyConsistent) < round { sched_yield() }
                metrics.add(apps)
                ended.store(round, ordering: .sequentiallyConsistent)
            }
        }
        for rows in 1...rounds {
            begun.store(rows, ordering: .sequentiallyConsistent)
            metrics.show(
                apps.map { LedgerMeasure.Calls(bundleID: $0, rows: rows, refused: 0, oldest: nil) },
                at: Timestamp(milliseconds: 0))
            while ended.load(ordering: .sequentiallyConsistent) < rows { sched_yield() }
            let newest = registry.render().split(separator: "\n").count {
                $0.hasPrefix("grantor_fulfilment_owed{app=\"app-") && $0.hasSuffix("} \(rows)")
            }
            #expect(newest == apps.count)
        }
        reader.join()
    }

    @Test("count Apple's replies by status and by its own code, with a word for what is not known")
    func replies() {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        let receipts = Endpoint(.verifyReceipt, .production)
        let serverAPI = Endpoint(.serverAPI, .production, key: "com.example.game")
        metrics.apple.called(receipts, took: .zero, hasReplied: true, status: 200, code: 21150)
        metrics.apple.called(receipts, took: .zero, hasReplied: false, status: 418, code: nil)
        metrics.apple.called(serverAPI, took: .zero, hasReplied: true, status: 404, code: 4_040_010)
        metrics.apple.called(serverAPI, took: .zero, hasReplied: false, status: nil, code: 77)
        let text = registry.render()
        for line in [
            #"replies_total{service="verify_receipt",environment="production",status="200"} 1"#,
            #"replies_total{service="verify_receipt",environment="production",status="other"} 1"#,
            #"replies_total{service="server_api",environment="production",status="404"} 1"#,
            #"replies_total{service="server_api",environment="production",status="none"} 1"#,
            #"codes_total{service="verify_receipt",environment="production",code="211xx"} 1"#,
            #"codes_total{service="server_api",environment="production",code="4040010"} 1"#,
            #"codes_total{service="server_api",environment="production",code="other"} 1"#,
            #"calls_unanswered_total{service="server_api",environment="production"} 1"#,
        ] { #expect(text.contains("grantor_apple_" + line + "\n"), "\(line)") }
    }

    @Test("time an event from its outcome, and none that the outbox owed")
    func told() {
        let registry = PrometheusRegistry()
        let metrics = WorkerMetrics(registry)
        let reports = (0..<3).map { number in
            PublishReport(token: PublishToken(rawValue: number), result: number < 2 ? .acknowledged : .failed)
        }
        metrics.published(reports) { $0.rawValue == 0 ? .seconds(4) : nil }
        let text = registry.render()
        #expect(text.contains("grantor_written_to_acknowledged_seconds_sum 4\n"))
        #expect(text.contains("grantor_written_to_acknowledged_seconds_count 1\n"))
        #expect(text.contains("grantor_events_published_total 2\n"))
        #expect(text.contains("grantor_events_not_taken_total 1\n"))
    }

    @Test("stay bounded, however many apps are configured, claimed or held")
    func cardinality() throws {
        func lines(apps: Int) throws -> Int {
            let registry = PrometheusRegistry()
            let metrics = WorkerMetrics(registry)
            let names = (0..<apps).map { BundleID("com.example.app\($0)") }
            metrics.appsFileTaken(names, services: names, at: Timestamp(milliseconds: 0))
            let decisions = try names.map { try decision(app: $0) }
            metrics.wrote(
                decisions, decisions.map { _ in .written(.granted(created: 1), publish: []) }, took: .zero,
                now: Timestamp(milliseconds: 0))
            let held = names.flatMap { app in
                HoldCause.allCases.map { LedgerMeasure.Held(app, $0, rows: 1, ["x"]) }
            }
            metrics.measured(
                LedgerMeasure(
                    retries: names.map { .init(bundleID: $0, rows: 20, bytes: 1) }, waiting: [], held: held,
                    outboxRows: 0, outboxAge: 0))
            let text = registry.render()
            #expect(text.contains("grantor_metrics_dropped_series_total 0\n"))
            guard apps > AppMetrics.most else { return text.split(separator: "\n").count }
            let others = apps - AppMetrics.most
            let unheld = 20 - HoldCause.allCases.count
            #expect(text.contains("grantor_submissions_finished_total{app=\"other\",outcome=\"granted\"} \(others)\n"))
            #expect(text.contains("grantor_submissions_held{app=\"other\",cause=\"no_decision\"} \(others)\n"))
            #expect(text.contains("grantor_submissions_waiting{app=\"other\",state=\"retrying\"} \(unheld * others)\n"))
            return text.split(separator: "\n").count
        }
        let most = try lines(apps: AppMetrics.most)
        #expect(try lines(apps: 300) == most)
        #expect(most < 3000)
    }
}
