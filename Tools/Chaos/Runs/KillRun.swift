import Contract
import Glibc
import KafkaTesting
import Scheduling

/// Signed transactions while the worker, and now and then the broker, is killed.
struct KillRun: Run {
    /// Time that the rest may take once nobody is killed any more.
    static let endLimit = Duration.seconds(300)
    let options: Options

    func run() throws -> Bool {
        let world = try World(options)
        let traffic = try Traffic(world)
        var report = Report()
        var worker = try world.start()
        let start = Instant.now
        // Half of the load is there at the start, the rest comes while workers are killed.
        for number in 0..<(options.submissions / 2) { try traffic.signed("order-\(number)", app: number) }
        try traffic.flush()
        var sent = options.submissions / 2
        var broken = 0
        for kill in 0..<options.kills {
            let until = options.submissions / 2 + options.submissions / 2 * (kill + 1) / options.kills
            for number in sent..<until { try traffic.signed("order-\(number)", app: number) }
            sent = until
            rest(milliseconds: Int.random(in: 50...2500, using: &world.random))
            if let code = worker.ended() {
                report.fault("the worker ended by itself: \(code)")
            } else {
                worker.end(by: SIGKILL)
            }
            worker = try world.start()
            if broken < options.brokerKills, kill * options.brokerKills >= broken * options.kills {
                broken += 1
                try world.kafka.kill()
                rest(milliseconds: Int.random(in: 100...3000, using: &world.random))
                try world.kafka.restart()
            }
        }
        try traffic.flush()
        say("\(options.kills) kills of the worker and \(broken) of the broker in \(seconds(since: start)) s")
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        let count = try judge.wait(Self.endLimit)
        say("\(count) of \(sent) submissions are granted after \(seconds(since: start)) s")
        report.stop([worker])
        report.add(try judge.judge(ledger: world.ledger))
        return report.end(world)
    }
}
