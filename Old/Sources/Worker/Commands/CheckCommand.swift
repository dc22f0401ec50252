import AppStore
import ArgumentParser
import Fulfillment
import HTTPTransport
import Kafka
import Logging
import Purchases

/// `grantor check`.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks configuration, broker, topics, ledger and the way to Apple, each with a clear result.",
        discussion: """
            Changes nothing. Exits 0 only if everything is as a worker needs it, and 78 where the configuration itself is \
            refused, as run does.
            """)

    @OptionGroup var configuration: ConfigurationOptions

    func run() async throws {
        let (settings, plan) = try await configuration.loadPlan()
        try StandardOutput.write(settings.describe() + "\n")
        var logger = Logger(label: "check")
        logger.logLevel = .critical
        let ledger = LedgerCheck(
            settings: settings.ledger, isAnyServed: plan.apps.all.contains { $0.inventory != nil },
            partitionsWithOffsets: { [logger] limit async throws(KafkaError) in
                try await plan.kafka.partitionsWithOffsets(within: limit, logger: logger)
            },
            logger: logger)
        let results =
            await kafka(plan, logger) + (await ledger.results()) + (await apple(plan, logger)) + inventory(plan)
        try StandardOutput.write(TextTable(header: ["CHECK", "RESULT", "DETAIL"], rows: results.map(\.row)).text())
        if results.contains(where: { !$0.isGood }) { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func kafka(_ plan: WorkerPlan, _ logger: Logger) async -> [CheckResult] {
        let admin = KafkaAdmin(configuration: plan.kafka.client, logger: logger)
        do throws(KafkaError) {
            // All topics are asked for: naming one would make some brokers create it.
            let cluster = try await admin.describe()
            let brokers = CheckResult(name: "broker", isGood: true, detail: "\(cluster.brokers.count) reachable")
            return [brokers]
                + plan.kafka.topics.all.map { topic in
                    switch cluster.topics[topic] {
                    case .present(let partitions, let leaderless):
                        CheckResult(
                            name: "topic \(topic)", isGood: leaderless == 0,
                            detail: "\(partitions) partitions"
                                + (leaderless == 0 ? "" : ", \(leaderless) of them without a leader"))
                    case .failed(let error): CheckResult(name: "topic \(topic)", isGood: false, detail: "\(error)")
                    case .missing, nil:
                        CheckResult(
                            name: "topic \(topic)", isGood: false, detail: "missing; grantor topics create makes it")
                    }
                }
        } catch {
            return [
                CheckResult(
                    name: "broker", isGood: false,
                    detail: "\(plan.kafka.bootstrapServers) does not answer: \(error)")
            ]
        }
    }

    private func apple(_ plan: WorkerPlan, _ logger: Logger) async -> [CheckResult] {
        let transport: HTTPTransport
        do throws(HTTPTransportError) {
            transport = try HTTPTransport(configuration: plan.apple.transport(), logger: logger)
        } catch {
            return [CheckResult(name: "Apple", isGood: false, detail: "\(error)")]
        }
        let endpoint = plan.apple.endpoint(transport)
        var results: [CheckResult] = []
        for environment in Environment.allCases { results.append(await verifyReceipt(endpoint, environment)) }
        let probe = CredentialsProbe(endpoint: endpoint, clock: SystemClock()) { $0.words }
        for app in plan.apps.all where app.hasServerAPIKey {
            let finding = await probe.finding(on: app)
            results.append(
                CheckResult(
                    name: "App Store Server API, \(app.app.bundleID)", isGood: finding.isGood, detail: finding.detail))
        }
        await transport.shutdown()
        return results
    }

    /// Said and not called: a call would tell of a grant.
    private func inventory(_ plan: WorkerPlan) -> [CheckResult] {
        plan.apps.all.compactMap { registered in
            registered.inventory.map { service in
                CheckResult(
                    name: "inventory service, \(registered.app.bundleID)", isGood: true,
                    detail: "configured, not called: \(service.url)")
            }
        }
    }

    /// An empty request: Apple answers it with a status, which shows that name, TLS and endpoint are right. Whether a
    /// shared secret is the app's cannot be told without one of the app's receipts.
    private func verifyReceipt(_ endpoint: AppleEndpoint, _ environment: Environment) async -> CheckResult {
        let name = "Apple verifyReceipt, \(environment.rawValue)"
        switch await endpoint.verifyReceipt(environment, body: RequestBody([Array("{}".utf8)])) {
        case .response(let status, _, _):
            let detail = status == 200 ? "answers" : "answers with HTTP \(status)"
            return CheckResult(name: name, isGood: status == 200, detail: detail)
        case .failed(let failure):
            return CheckResult(name: name, isGood: false, detail: "no answer: \(failure.words)")
        }
    }
}

extension TransportFailure {
    /// For people.
    var words: String {
        switch self {
        case .unreachable: "the host cannot be reached"
        case .timedOut: "it took too long"
        case .tls: "the TLS connection failed, or its certificate is not trusted (GRANTOR_APPLE_CA_FILE)"
        case .interrupted: "the connection broke"
        case .tooLarge: "the answer is too large"
        case .cancelled: "the call was given up"
        }
    }
}
