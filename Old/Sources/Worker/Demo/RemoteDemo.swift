import AppStoreSimulator
import Foundation
import Fulfillment
import HTTPTransport
import Kafka
import Logging
import Purchases

/// The demo's players against a worker that runs elsewhere: submits the same waves to a broker and follows the answers.
struct RemoteDemo {
    let bootstrapServers: String
    let topics: TopicNames
    /// Base of the simulator's control endpoint.
    let simulator: String
    /// The simulator's authority: receipts are signed with it, and its TLS certificate is trusted.
    let authorityFolder: URL
    let logger: Logger
    let display: ProgressDisplay

    /// - Returns: whether everything came out as it must, as far as the topics show it.
    func run() async throws -> Bool {
        let clock = SystemClock()
        let now = clock.now()
        let issuer = try DemoIssuer(authority: SimulatorAuthority(folder: authorityFolder), now: now)
        // A worker elsewhere has no key that the simulator there would accept.
        let scenario = try DemoScenario(now: now, issuer: issuer, asksServerAPI: false)
        let client = KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: "grantor-demo")
        // Brokers that are away are known at once by it, and by a message that nobody takes after minutes.
        _ = try await KafkaAdmin(configuration: client, logger: logger).describe()
        try await script(scenario.first)
        let producer = try KafkaProducer(configuration: KafkaProducerConfiguration(client: client), logger: logger)
        let consumer = try KafkaConsumer(
            configuration: KafkaConsumerConfiguration(
                client: client, groupID: "grantor-demo-players\(scenario.mark)", topics: Array(topics.all.dropFirst())),
            logger: logger)
        let started = clock.elapsed()
        let ends = DemoWatch.Ends(producer: producer, consumer: consumer, topics: topics, areSettled: { _ in true })
        var watch = DemoWatch(ends: ends, mark: scenario.mark, display: display, clock: clock)
        try await watch.submit(scenario.first.shuffled(), called: "purchases and attempts")
        try await watch.submit(scenario.second.shuffled(), called: "duplicates, restores and thefts")
        await producer.close(deadline: .seconds(5))
        await consumer.close(deadline: .seconds(5))
        let submissions = scenario.first + scenario.second
        let audit = DemoAudit(submissions: submissions, answers: watch.answers, ledger: nil)
        let result = DemoResult(
            submissions: submissions, answers: watch.answers, counts: nil, faultsPlayed: nil, audit: audit)
        display.say(DemoReport(result: result, took: clock.elapsed() - started).text)
        return audit.passed
    }

    /// Tells the simulator which faults Apple is to show first.
    private func script(_ submissions: [WorkloadSubmission]) async throws {
        let transactions = submissions.compactMap { submission in
            submission.faults.isEmpty
                ? nil
                : submission.transactionID.map {
                    ScriptOrder.Transaction(transactionId: $0.rawValue, faults: submission.faults)
                }
        }
        var configuration = HTTPTransportConfiguration()
        configuration.caFile = authorityFolder.appending(path: SimulatorAuthority.File.serverRoot.rawValue).path
        let transport = try HTTPTransport(configuration: configuration, logger: logger)
        let response = try await transport.send(
            HTTPRequest(
                method: .post, url: simulator + "/simulator/scripts",
                headers: [HTTPHeader(name: "content-type", value: "application/json")],
                body: Array(try JSONEncoder().encode(ScriptOrder(transactions: transactions)))))
        await transport.shutdown()
        guard response.status == 204 else { throw DemoError.notScripted(response.status) }
    }
}
