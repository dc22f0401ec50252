import AppStoreSimulator
import Contract
import Glibc
import Kafka
import Logging

/// The course of events between an App Store and the parts of a stage.
struct Demo {
    /// Longest time until a step's submissions have their answers.
    private static let answerLimit = Duration.seconds(180)
    /// Time that Apple stays away.
    private static let outage = Duration.seconds(4)
    /// Time between two looks at the topics.
    private static let lookPause: UInt32 = 200_000
    /// Apple's latency, so that parts are killed with calls under way.
    private static let latency = Latency.uniform(from: 60, through: 250)

    private let stage: any Stage
    private let broker: Broker
    private let progress = Progress()
    private let logger: Logger

    init(on stage: any Stage) {
        self.stage = stage
        var logger = Logger(label: "grantor-demo")
        logger.logLevel = .critical
        self.logger = logger
        broker = Broker(bootstrapServers: stage.bootstrapServers, logger: logger)
    }

    /// Plays, ends the stage's parts, and reports the result.
    ///
    /// - Returns: whether everything came out as it must.
    func run() throws -> Bool {
        let report = try play()
        // Before the report: the parts' last lines would stand behind it.
        stage.end(passed: report.passed)
        progress.say(report.text(took: progress.elapsed))
        return report.passed
    }

    private func play() throws -> Report {
        progress.say("Starting an App Store simulator over TLS beside \(stage.parts) ...")
        let now = Self.now()
        let authority = try SimulatorAuthority(host: stage.apple?.host, now: now)
        let simulator = try simulator(authority)
        let key = try ServerAPIKey()
        try simulator.accept(key)
        let endpoints = try simulator.start()
        defer { simulator.stop() }
        var answers = Answers()
        try broker.look(into: &answers)
        guard answers.records == 0 else {
            throw DemoFailure("the topics hold events of an earlier run; `down --volumes` removes them")
        }
        try stage.prepare(apple: endpoints, key: key)
        let scenario = try Scenario(authority: authority, now: now)
        for registration in scenario.registrations { try simulator.register(registration) }
        for case let (transaction, faults)? in scenario.all.map(\.faults) { try simulator.script(transaction, faults) }

        try play(scenario, simulator, &answers)
        let stopped = try stage.stop()
        // Copies that the last moments brought.
        try broker.look(into: &answers)
        return Report(
            scenario: scenario, answers: answers, ledger: try LedgerContent(stage.ledger()), stoppedInOrder: stopped)
    }

    private func play(_ scenario: Scenario, _ simulator: AppStoreSimulator, _ answers: inout Answers) throws {
        var sent: [DemoSubmission] = []
        func submit(_ submissions: some Collection<DemoSubmission>) throws {
            sent += submissions
            try broker.submit(Array(submissions))
        }
        simulator.behave(Behaviour(latency: Self.latency))
        try stage.start()
        try submit(scenario.parts[0])
        progress.say("Submitted \(sent.count): purchases of every kind, and attempts at fraud.")
        try wait(for: sent, &answers)

        simulator.behave(Behaviour(latency: Self.latency, outage: .unavailable))
        try submit(scenario.parts[1])
        progress.say("Apple is away; submitted \(scenario.parts[1].count) more. Some need no call to Apple.")
        let end = ContinuousClock.now + Self.outage
        while ContinuousClock.now < end {
            try look(sent, &answers)
            usleep(Self.lookPause)
        }
        simulator.behave(Behaviour(latency: Self.latency))
        progress.say("Apple is back.")
        try wait(for: sent, &answers)

        let accidents = stage.accidents
        let part = scenario.parts[2]
        for (index, accident) in accidents.enumerated() {
            let slice = part[part.count * index / accidents.count..<part.count * (index + 1) / accidents.count]
            let before = answers.records
            try submit(slice)
            let end = ContinuousClock.now + Self.answerLimit
            while answers.records == before, ContinuousClock.now < end { try look(sent, &answers) }
            try accident.happen()
            progress.say("Submitted \(slice.count) more and \(accident.text).")
            try wait(for: sent, &answers)
        }

        try submit(scenario.repeats)
        progress.say("Submitted \(scenario.repeats.count) repeats, restores and thefts of what is granted.")
        try wait(for: sent, &answers)
    }

    /// Waits until all submissions have their answers, or the limit is over. The report names those without.
    private func wait(for sent: [DemoSubmission], _ answers: inout Answers) throws {
        let end = ContinuousClock.now + Self.answerLimit
        while try look(sent, &answers) < sent.count, ContinuousClock.now < end {
            usleep(Self.lookPause)
        }
    }

    /// - Returns: how many submissions have their answers.
    @discardableResult
    private func look(_ sent: [DemoSubmission], _ answers: inout Answers) throws -> Int {
        try stage.mustRun()
        do throws(KafkaError) {
            try broker.look(into: &answers)
        } catch {
            // A broker that was killed a moment ago: the next look sees what this one missed.
            guard error.disposition == .retry else { throw error }
        }
        let unreadable = sent.count { $0.expectation == .quarantined }
        // A quarantined record names nobody; all of them count once all are there.
        let missing = answers.quarantined < unreadable ? unreadable : 0
        let done = sent.count { answers.hold($0) } - missing
        progress.show(done: done, of: sent.count, answers: answers)
        return done
    }

    private func simulator(_ authority: SimulatorAuthority) throws -> AppStoreSimulator {
        var configuration = SimulatorConfiguration()
        if let apple = stage.apple {
            configuration.host = apple.host
            configuration.productionPort = apple.productionPort
            configuration.sandboxPort = apple.sandboxPort
        }
        configuration.caFile = stage.folder + "/ca.pem"
        configuration.rootsFile = stage.folder + "/roots.pem"
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
