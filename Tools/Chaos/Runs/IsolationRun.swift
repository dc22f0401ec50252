import AppStoreSimulator
import Contract
import Glibc
import Scheduling

/// verifyReceipt is away, receipts come, forged and genuine; signed transactions must not notice.
struct IsolationRun: Run {
    /// Longest time from a signed transaction to its event, for 99 of 100.
    static let signedLimit: Int64 = 2000
    /// Time from Apple's return until every genuine receipt is granted.
    static let returnLimit: Int64 = 60_000
    private static let tick = Duration.milliseconds(100)
    private static let restarts = 5
    let options: Options

    /// The state of a run between ticks.
    private struct Course {
        var worker: ChildWorker
        var isStopping = false
        var restarts = 0
        var peak = 0
        var signed = 0
        var forged = 0
        var receipts = 0
        /// Milliseconds of the clock in which no worker was up.
        var gaps: [ClosedRange<Int64>] = []
        var stopAt: Int64 = 0
    }

    func run() throws -> Bool {
        let world = try World(options)
        let traffic = try Traffic(world)
        var report = Report()
        let receipts = try (0..<options.receipts).map { _ in try traffic.receipt(bytes: 6000) }
        say("\(receipts.count) receipts of \(receipts.first?.text.utf8.count ?? 0) characters are made")
        try world.appleStandIn.takeAway(options.away)
        say("verifyReceipt is away (\(options.away.rawValue)) for \(options.seconds) s")
        var course = Course(worker: try world.start())
        // Its start is not measured.
        rest(milliseconds: 4000)
        let begin = clock()
        let start = Instant.now
        var turn = 0
        while Instant.now - start < .seconds(options.seconds) {
            try send(turn, traffic, receipts, &course)
            try restart(at: Instant.now - start, world, &report, &course)
            turn += 1
            let left = start + Self.tick * turn - .now
            if left > .zero { rest(milliseconds: Int(left.components.attoseconds / 1_000_000_000_000_000)) }
        }
        while course.receipts < receipts.count {
            traffic.submit("receipt-\(course.receipts)", receipts[course.receipts])
            course.receipts += 1
        }
        try traffic.flush()
        while course.isStopping { try restart(at: .zero, world, &report, &course) }
        say(
            "\(course.signed) signed, \(course.forged) forged, \(course.receipts) genuine receipts in \(seconds(since: start)) s"
        )
        let back = clock()
        try world.appleStandIn.bringBack(milliseconds: 100)
        var judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        // The run ends when the genuine receipts are granted. Forged ones are still being asked about.
        judge.mayOweFailures = true
        let count = try judge.wait(.seconds(300))
        course.peak = max(course.peak, course.worker.peakMemory)
        say("\(count) of \(traffic.expected.count) granted; a worker's memory was at most \(course.peak) MB")
        report.expect(course.peak <= options.memory, "memory: \(course.peak) MB, more than \(options.memory)")
        try judgeTimes(judge, course, begin: begin, back: back, &report)
        report.stop([course.worker])
        report.add(try judge.judge(ledger: world.ledger))
        world.apple.stop()
        return report.end(world)
    }

    private func send(
        _ turn: Int, _ traffic: Traffic, _ receipts: [(text: String, transaction: String)], _ course: inout Course
    ) throws {
        try traffic.signed("signed-\(turn)", app: turn)
        course.signed += 1
        for _ in 0..<(options.forged / 10) {
            traffic.forged("forged-\(course.forged)")
            course.forged += 1
        }
        let until = min(receipts.count, receipts.count * (turn + 1) / (options.seconds * 10))
        while course.receipts < until {
            traffic.submit("receipt-\(course.receipts)", receipts[course.receipts])
            course.receipts += 1
        }
    }

    /// Restarts come evenly, the first one not in the first sixth of the time.
    private func restart(
        at time: Duration, _ world: World, _ report: inout Report, _ course: inout Course
    ) throws {
        course.peak = max(course.peak, course.worker.peakMemory)
        if course.isStopping {
            guard let code = course.worker.ended() else {
                report.expect(clock() - course.stopAt < 25_000, "a stop takes more than 25 s")
                return
            }
            report.expect(code == 0, "a worker ended with \(code) after SIGTERM")
            course.worker = try world.start()
            course.isStopping = false
            // A start and the way into the group are not the outage's fault.
            course.gaps.append(course.stopAt - 1000...clock() + 3000)
            return
        }
        if let code = course.worker.ended() {
            report.fault("a worker ended by itself: \(code)")
            course.worker = try world.start()
        }
        guard course.restarts < Self.restarts,
            time >= .seconds(options.seconds) * (course.restarts + 1) / (Self.restarts + 1)
        else { return }
        course.restarts += 1
        course.isStopping = true
        course.stopAt = clock()
        course.worker.signal(SIGTERM)
    }

    private func judgeTimes(
        _ judge: TopicJudge, _ course: Course, begin: Int64, back: Int64, _ report: inout Report
    ) throws {
        let sent = try judge.times(.submitted)
        let told = try judge.times(.granted)
        func took(_ isCounted: (Int64) -> Bool) -> Latencies {
            Latencies(
                sent.compactMap { name, time in
                    guard name.hasPrefix("signed-"), isCounted(time) else { return nil }
                    return (told[name] ?? .max) - time
                })
        }
        let all = took { _ in true }
        let steady = took { time in !course.gaps.contains { $0.contains(time) } }
        let first = took { $0 < begin + 60_000 && $0 < (course.gaps.first?.lowerBound ?? .max) }
        say("signed transactions, all: \(all.text)")
        say("signed transactions, without restarts: \(steady.text)")
        say("signed transactions, from the first moment to the first restart: \(first.text)")
        report.expect(steady.at(0.99) <= Self.signedLimit, "signed transactions wait: \(steady.text)")
        let returned = Latencies(
            told.compactMap { name, time in name.hasPrefix("receipt-") ? time - back : nil })
        say("genuine receipts after Apple's return: \(returned.text)")
        report.expect(
            returned.at(1) <= Self.returnLimit, "genuine receipts wait \(returned.at(1)) ms after Apple's return")
    }

    /// The host's wall clock in milliseconds, as records have it.
    private func clock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
