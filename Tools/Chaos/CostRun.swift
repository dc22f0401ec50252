import Contract
import Glibc
import Scheduling

/// The worker's CPU and memory for signed transactions that are all there when it starts.
struct CostRun {
    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() throws -> Bool {
        let world = try World(options)
        let traffic = try Traffic(world)
        var report = Report()
        // The start is paid with a first part.
        for number in 0..<100 { try traffic.signed("first-\(number)", app: number) }
        try traffic.flush()
        let worker = try world.start()
        _ = try TopicJudge(expected: traffic.expected, scan: world.scan).wait(.seconds(60))
        worker.signal(SIGSTOP)
        for number in 0..<options.submissions { try traffic.signed("order-\(number)", app: number) }
        try traffic.flush()
        let (start, before) = (Instant.now, worker.processorTime)
        worker.signal(SIGCONT)
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        // Its own grants are counted in the ledger's file, at the price of a query now and then.
        look(every: 200, for: .seconds(300)) { TopicJudge.rows(world.ledger) >= traffic.expected.count }
        let (used, took) = (worker.processorTime - before, Double((Instant.now - start).wholeMilliseconds) / 1000)
        let each = used * 1_000_000 / Double(options.submissions)
        say(
            "\(options.submissions) signed transactions: \(Int(each)) us of CPU each, \(Int(Double(options.submissions) / took)) a second"
        )
        say("memory was at most \(worker.peakMemory) MB")
        _ = try judge.wait(.seconds(60))
        report.stop([worker])
        report.add(try judge.judge(ledger: world.ledger))
        return report.end(world)
    }
}
