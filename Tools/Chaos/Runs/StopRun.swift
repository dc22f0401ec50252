import Contract
import Glibc
import Scheduling

/// SIGTERM under full load: a worker ends with 0 in time, and another worker does its unfinished work.
struct StopRun: Run {
    private static let stops = 5
    let options: Options

    func run() throws -> Bool {
        let world = try World(options)
        let traffic = try Traffic(world)
        var report = Report()
        for number in 0..<options.submissions { try traffic.signed("order-\(number)", app: number) }
        try traffic.flush()
        for _ in 0..<Self.stops {
            let worker = try world.start()
            rest(milliseconds: Int.random(in: 1500...3500, using: &world.random))
            let start = Instant.now
            report.stop([worker])
            say("a worker under load stopped in \((Instant.now - start).wholeMilliseconds) ms")
        }
        let worker = try world.start()
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        say("\(try judge.wait(.seconds(180))) of \(options.submissions) granted")
        report.stop([worker])
        report.add(try judge.judge(ledger: world.ledger))
        return report.end(world)
    }
}
