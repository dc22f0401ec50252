import Contract
import Glibc
import KafkaTesting
import Scheduling

/// Signed transactions while workers, and now and then the broker and sessions with the database, are killed.
struct KillRun {
    /// Time that the rest may take once nobody is killed any more.
    static let endLimit = Duration.seconds(300)
    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() throws -> Bool {
        let world = try World(options)
        let traffic = try Traffic(world)
        var report = Report()
        var fleet = try (0..<options.workers).map { try world.start($0) }
        let start = Instant.now
        // Half of the load is there at the start, the rest comes while workers are killed.
        for number in 0..<(options.submissions / 2) { try traffic.signed("order-\(number)", app: number) }
        try traffic.flush()
        var sent = options.submissions / 2
        var broken = 0
        var cut = 0
        for kill in 0..<options.kills {
            let until = options.submissions / 2 + options.submissions / 2 * (kill + 1) / options.kills
            for number in sent..<until { try traffic.signed("order-\(number)", app: number) }
            sent = until
            rest(milliseconds: Int.random(in: 50...2500, using: &world.random))
            let place = Int.random(in: 0..<options.workers, using: &world.random)
            if let code = fleet[place].ended() {
                report.fault("worker \(place) ended by itself: \(code)")
            } else {
                fleet[place].end(by: SIGKILL)
            }
            fleet[place] = try world.start(place)
            if cut < options.cuts, kill * options.cuts >= cut * options.kills {
                cut += 1
                rest(milliseconds: Int.random(in: 0...1500, using: &world.random))
                try world.cutSessions()
            }
            if broken < options.brokerKills, kill * options.brokerKills >= broken * options.kills {
                broken += 1
                try world.kafka.kill()
                rest(milliseconds: Int.random(in: 100...3000, using: &world.random))
                try world.kafka.restart()
            }
        }
        try traffic.flush()
        say("\(options.kills) kills of workers, \(broken) of the broker and \(cut) cuts in \(seconds(since: start)) s")
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        let count = try judge.wait(Self.endLimit)
        say("\(count) of \(sent) submissions are granted after \(seconds(since: start)) s")
        report.stop(fleet)
        report.add(try judge.judge(ledger: world.ledger))
        return report.end(world)
    }
}
