import AppStoreSimulator
import Contract
import Glibc
import Kafka
import Logging

/// Broker, App Store, ledger and worker, and the course of events between them.
struct Demo {
    /// Longest time until a step's submissions have their answers.
    private static let answerLimit = Duration.seconds(180)
    /// Time that Apple stays away.
    private static let outage = Duration.seconds(4)
    /// Time between two looks at the topics.
    private static let lookPause: UInt32 = 200_000
    /// Apple's latency, so that the worker is killed with calls under way.
    private static let latency = Latency.uniform(from: 60, through: 250)

    let grantor: String
    let kafkaMock: String
    let folder: String
    /// An empty database for the ledger; nil for a SQLite file in the folder.
    let ledgerURL: String?
    private let progress = Progress()
    private let logger: Logger

    init(grantor: String, kafkaMock: String, folder: String, ledgerURL: String?) {
        self.ledgerURL = ledgerURL
        self.grantor = grantor
        self.kafkaMock = kafkaMock
        self.folder = folder
        var logger = Logger(label: "grantor-demo")
        logger.logLevel = .critical
        self.logger = logger
    }

    /// - Returns: whether everything came out as it must.
    func run() throws -> Bool {
        let ledger = ledgerURL == nil ? "a SQLite ledger" : "a ledger on PostgreSQL"
        progress.say("Starting a Kafka mock, an App Store simulator over TLS and a worker with \(ledger) ...")
        let now = Self.now()
        let authority = try SimulatorAuthority(now: now)
        let simulator = try simulator(authority)
        let key = try ServerAPIKey()
        try simulator.accept(key)
        let endpoints = try simulator.start()
        defer { simulator.stop() }
        let broker = try Broker(program: kafkaMock, folder: folder, logger: logger)
        defer { broker.stop() }
        let worker = try Worker(
            program: grantor, folder: folder, bootstrapServers: broker.bootstrapServers, apple: endpoints, key: key,
            ledgerURL: ledgerURL)
        defer { worker.kill() }
        let scenario = try Scenario(authority: authority, now: now)
        for registration in scenario.registrations { try simulator.register(registration) }
        for case let (transaction, faults)? in scenario.all.map(\.faults) { try simulator.script(transaction, faults) }

        var answers = Answers()
        try play(scenario, simulator, broker, worker, &answers)
        let stopped = worker.stop()
        // Copies that the last moments brought.
        try broker.look(into: &answers)
        let report = Report(
            scenario: scenario, answers: answers, ledger: try LedgerContent(url: worker.ledgerURL),
            stoppedInOrder: stopped)
        progress.say(report.text(took: progress.elapsed))
        return report.passed
    }

    private func play(
        _ scenario: Scenario, _ simulator: AppStoreSimulator, _ broker: Broker, _ worker: Worker,
        _ answers: inout Answers
    ) throws {
        var sent: [DemoSubmission] = []
        func submit(_ submissions: [DemoSubmission]) throws {
            sent += submissions
            try broker.submit(submissions)
        }
        simulator.behave(Behaviour(latency: Self.latency))
        try worker.start()
        try submit(scenario.parts[0])
        progress.say("Submitted \(sent.count): purchases of every kind, and attempts at fraud.")
        try wait(for: sent, broker, worker, &answers)

        simulator.behave(Behaviour(latency: Self.latency, outage: .unavailable))
        try submit(scenario.parts[1])
        progress.say("Apple is away; submitted \(scenario.parts[1].count) more. Some need no call to Apple.")
        let end = ContinuousClock.now + Self.outage
        while ContinuousClock.now < end {
            try look(sent, broker, worker, &answers)
            usleep(Self.lookPause)
        }
        simulator.behave(Behaviour(latency: Self.latency))
        progress.say("Apple is back.")
        try wait(for: sent, broker, worker, &answers)

        let before = answers.records
        try submit(scenario.parts[2])
        while answers.records == before { try look(sent, broker, worker, &answers) }
        worker.kill()
        progress.say("Submitted \(scenario.parts[2].count) more and killed the worker (kill -9); started another one.")
        try worker.start()
        try wait(for: sent, broker, worker, &answers)

        try submit(scenario.repeats)
        progress.say("Submitted \(scenario.repeats.count) repeats, restores and thefts of what is granted.")
        try wait(for: sent, broker, worker, &answers)
    }

    /// Waits until all submissions have their answers, or the limit is over: then the report says which have not.
    private func wait(
        for sent: [DemoSubmission], _ broker: Broker, _ worker: Worker, _ answers: inout Answers
    ) throws {
        let end = ContinuousClock.now + Self.answerLimit
        while try look(sent, broker, worker, &answers) < sent.count, ContinuousClock.now < end {
            usleep(Self.lookPause)
        }
    }

    /// - Returns: how many submissions have their answers.
    @discardableResult
    private func look(
        _ sent: [DemoSubmission], _ broker: Broker, _ worker: Worker, _ answers: inout Answers
    ) throws -> Int {
        try worker.mustRun()
        try broker.look(into: &answers)
        let unreadable = sent.count { $0.expectation == .quarantined }
        // A quarantined record names nobody; all of them count once all are there.
        let missing = answers.quarantined < unreadable ? unreadable : 0
        let done = sent.count { answers.hold($0) } - missing
        progress.show(done: done, of: sent.count, answers: answers)
        return done
    }

    private func simulator(_ authority: SimulatorAuthority) throws -> AppStoreSimulator {
        var configuration = SimulatorConfiguration()
        configuration.caFile = folder + "/ca.pem"
        configuration.rootsFile = folder + "/roots.pem"
        configuration.acceptedSecrets = [Catalogue.sharedSecret]
        return try AppStoreSimulator(
            authority: authority, configuration: configuration, logger: logger, now: { Self.now() })
    }

    private static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
