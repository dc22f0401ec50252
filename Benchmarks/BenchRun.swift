import AppStoreSimulator
import Foundation
import Kafka
import Ledger
import Logging
import PostgresTesting
import Purchases

/// One run of a case, from starting the processes to ending them.
struct BenchRun {
    static let inputPartitions = 48
    static let outputPartitions = 8
    /// Submissions handed to the broker and not answered yet, at most: what the mock cluster holds with room to spare.
    static let maxAhead = 8_000
    static let batch = 250
    static let bundleID: BundleID = "com.example.game"
    static let properties = ["session.timeout.ms": "6000", "fetch.wait.max.ms": "5"]

    let scenario: BenchCase
    let binaries: URL

    func measure() async throws -> Measurement {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grantor-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let authority = folder.appending(path: "authority")
        let broker = try broker(in: folder)
        defer { broker.end() }
        let bootstrap = try broker.firstLine().replacingOccurrences(of: "BOOTSTRAP ", with: "")
        let apple = try BenchProcess(
            binaries.appending(path: "grantor"),
            [
                "simulate-app-store", "--authority-folder", authority.path, "--latency",
                String(scenario.latencyMilliseconds),
            ], log: folder.appending(path: "apple.log"))
        defer { apple.end() }
        let endpoints = try JSONDecoder().decode([String: String].self, from: Data(try apple.firstLine().utf8))
        let messages = try messages(authority: authority)
        var measurement = try await measure(messages, in: folder, bootstrap: bootstrap, endpoints: endpoints)
        if scenario.evidence == .receipt {
            let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
            let purchase = SimulatedPurchase(transactionID: "1000000000", productID: "gems", purchasedAt: now)
            let receipts = try ReceiptFactory(authority: try SimulatorAuthority(folder: authority))
            let calls = BareCalls(
                url: endpoints["productionURL"] ?? "", caFile: endpoints["caFile"] ?? "",
                receipt: try receipts.base64(receipt(of: purchase, now: now)),
                // They wait for each other, so where Apple takes its time there are fewer.
                count: max(40, 3000 / (1 + scenario.latencyMilliseconds)))
            measurement.bareCallMicroseconds = try calls.microseconds()
        }
        return measurement
    }

    /// With a worker of its own, and its ledger.
    private func measure(
        _ messages: [KafkaProducerRecord], in folder: URL, bootstrap: String, endpoints: [String: String]
    ) async throws -> Measurement {
        switch scenario.ledger {
        case .sqlite:
            let ledger = "sqlite:\(folder.appending(path: "ledger.db").path)"
            let worker = try worker(in: folder, bootstrap: bootstrap, endpoints: endpoints, ledger: ledger)
            defer { worker.end() }
            return try await load(messages, bootstrap: bootstrap, worker: worker)
        case .postgres:
            let server = try await PostgresServer.start()
            let ledger = server.url(schema: try await server.freshSchema())
            guard let configuration = PostgresLedgerConfiguration(url: ledger) else {
                throw BenchFailure(description: "the URL cannot be read")
            }
            _ = try await PostgresLedger.migrate(configuration)
            let worker = try worker(in: folder, bootstrap: bootstrap, endpoints: endpoints, ledger: ledger)
            let result: Measurement
            do {
                defer { worker.end() }
                result = try await load(messages, bootstrap: bootstrap, worker: worker)
            }
            try await server.stop()
            return result
        }
    }

    func broker(in folder: URL) throws -> BenchProcess {
        try BenchProcess(
            binaries.appending(path: "kafka-mock-broker"),
            ["--brokers", "1", "--topic", "receipts.submitted:\(Self.inputPartitions)"]
                + ["purchases.granted", "purchases.failed", "receipts.quarantined"].flatMap {
                    ["--topic", "\($0):\(Self.outputPartitions)"]
                }, log: folder.appending(path: "broker.log"))
    }

    private func messages(authority: URL) throws -> [KafkaProducerRecord] {
        let authority = try SimulatorAuthority(folder: authority)
        let receipts = try ReceiptFactory(authority: authority)
        let transactions = try SignedTransactionFactory(authority: authority)
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        return try (0..<scenario.submissions).map { index in
            let purchase = SimulatedPurchase(
                transactionID: TransactionID(String(2_000_000_000 + index)), productID: "gems", purchasedAt: now)
            let evidence =
                switch scenario.evidence {
                case .receipt:
                    try #""receipt":"\#(receipts.base64(receipt(of: purchase, now: now)))""#
                case .signedTransaction:
                    try #""signedTransaction":"\#(transactions.signed(transaction(of: purchase), signedAt: now))""#
                }
            let text =
                #"{"submissionId":"bench-\#(index)","userId":"user-\#(index)","bundleId":"\#(Self.bundleID)",\#(evidence)}"#
            return KafkaProducerRecord(
                topic: "receipts.submitted", key: Array("user-\(index)".utf8), value: Array(text.utf8))
        }
    }

    private func receipt(of purchase: SimulatedPurchase, now: Timestamp) -> ReceiptSpecification {
        ReceiptSpecification(
            bundleID: Self.bundleID, environment: .production, purchases: [purchase], creationDate: now,
            targetSize: scenario.receiptBytes)
    }

    private func transaction(of purchase: SimulatedPurchase) -> TransactionSpecification {
        TransactionSpecification(purchase, bundleID: Self.bundleID, environment: .production)
    }

    func worker(
        in folder: URL, bootstrap: String, endpoints: [String: String], ledger: String
    ) throws -> BenchProcess {
        let apps = folder.appending(path: "apps.yaml")
        try Data("apps:\n  - bundleId: \(Self.bundleID)\n".utf8).write(to: apps)
        let properties = folder.appending(path: "kafka.properties")
        try Data(Self.properties.map { "\($0.key)=\($0.value)\n" }.joined().utf8).write(to: properties)
        return try BenchProcess(
            binaries.appending(path: "grantor"), ["run"],
            environment: [
                "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": bootstrap,
                "GRANTOR_KAFKA_PROPERTIES_FILE": properties.path, "GRANTOR_APPS_FILE": apps.path,
                "GRANTOR_LEDGER_URL": ledger,
                "GRANTOR_MAX_IN_FLIGHT": String(scenario.inFlight), "GRANTOR_HTTP_BIND": "127.0.0.1:0",
                "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": endpoints["productionURL"] ?? "",
                "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": endpoints["sandboxURL"] ?? "",
                "GRANTOR_APPLE_CA_FILE": endpoints["caFile"] ?? "",
                "GRANTOR_APPLE_ROOT_CERTIFICATES": endpoints["rootsFile"] ?? "", "GRANTOR_LOG_LEVEL": "warning",
            ], log: folder.appending(path: "worker.log"))
    }

    private func load(
        _ messages: [KafkaProducerRecord], bootstrap: String, worker: BenchProcess
    ) async throws -> Measurement {
        let client = KafkaClientConfiguration(bootstrapServers: bootstrap, properties: Self.properties)
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        let producer = try KafkaProducer(configuration: KafkaProducerConfiguration(client: client), logger: logger)
        let consumer = try KafkaConsumer(
            configuration: KafkaConsumerConfiguration(client: client, groupID: "bench", topics: ["purchases.granted"]),
            logger: logger)
        // Warm: the groups are assigned and connections stand before the clock starts.
        let warmUp = min(scenario.inFlight * 2, messages.count / 4)
        var rest = messages[...]
        var answered = 0
        var produced = 0
        var cpuAtStart = 0.0
        var start = ContinuousClock.now
        while answered < messages.count {
            let limit = answered < warmUp ? warmUp : answered + Self.maxAhead
            while produced < min(limit, messages.count) {
                let batch = rest.prefix(Self.batch)
                rest = rest.dropFirst(Self.batch)
                _ = await producer.send(Array(batch))
                produced += batch.count
            }
            let wasWarm = answered >= warmUp
            if case .records(let records)? = try await consumer.next(maxRecords: 1000, maxBytes: 16 << 20) {
                answered += records.count
            }
            if !wasWarm, answered >= warmUp {
                start = .now
                cpuAtStart = try worker.cpuSeconds()
            }
        }
        let seconds = Double((ContinuousClock.now - start) / .milliseconds(1)) / 1000
        let cpu = try worker.cpuSeconds() - cpuAtStart
        let measured = Double(messages.count - warmUp)
        await producer.close(deadline: .seconds(2))
        await consumer.close(deadline: .seconds(2))
        return Measurement(
            receiptsPerSecond: measured / seconds, cpuMicrosecondsPerReceipt: cpu / measured * 1e6,
            peakMemoryMiB: try worker.peakMemoryMiB(),
            rawVerificationMicroseconds: try RawVerification.microseconds())
    }
}
