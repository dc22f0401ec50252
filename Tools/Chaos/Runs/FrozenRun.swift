import Contract
import Glibc
import PostgresTesting
import Scheduling
import Synchronization

/// A worker is frozen in each state of a write, and awakes when another one has its partitions: it writes nothing.
struct FrozenRun {
    private static let sessionTimeout = Duration.seconds(6)
    private static let limit = Duration.seconds(60)
    /// Purchases in each state, half of which are claimed twice.
    private static let purchases = 40

    /// The states that a write has for the server.
    private enum WriteState: String, CaseIterable {
        case plainUnsent = "a plain write that the server has not got"
        case plainUnanswered = "a plain write that the server has done"
        case wholeUnsent = "a transaction whose grants the server has not got"
        case wholeUnanswered = "a transaction whose grants the server has written"
        case commitUnsent = "a transaction whose commit the server has not got"
        case commitUnanswered = "a transaction that the server has committed"

        var moment: PostgresProxy.Moment {
            switch self {
            case .plainUnsent, .wholeUnsent, .commitUnsent: .beforeStatements
            case .plainUnanswered, .wholeUnanswered, .commitUnanswered: .afterStatements
            }
        }

        /// Whether a round trip is the state's, by its statements and those of the one before.
        func fits(_ before: [String], _ now: [String]) -> Bool {
            let grants = now.first { $0.contains("INSERT INTO grants") }
            return switch self {
            case .plainUnsent, .plainUnanswered: grants?.contains("generation = g") == true
            case .wholeUnsent, .wholeUnanswered: grants?.contains("generation = g") == false
            case .commitUnsent, .commitUnanswered:
                now.first == "COMMIT" && before.contains { $0.contains("INSERT INTO answers") }
            }
        }
    }

    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() throws -> Bool {
        var options = options
        options.ledger = .postgres
        let world = try World(options, World.Needs(workersWithProxies: 1, sessionTimeout: Self.sessionTimeout))
        let traffic = try Traffic(world)
        var report = Report()
        for state in WriteState.allCases { try freeze(in: state, world, traffic, &report) }
        report.add(try TopicJudge(expected: traffic.expected, scan: world.scan).judge(ledger: world.ledger))
        try report.expectAllRead(world)
        return report.end(world)
    }

    private func freeze(
        in state: WriteState, _ world: World, _ traffic: Traffic, _ report: inout Report
    ) throws {
        // The first worker's ledger is behind the proxy, the second one's is not.
        let frozen = try world.start(0)
        let (isHeld, isOver) = (Flag(), Flag())
        world.proxies[0].hold(at: state.moment, of: { state.fits($0, $1) }) {
            frozen.signal(SIGSTOP)
            isHeld.raise()
            isOver.wait()
        }
        for number in 0..<Self.purchases {
            try traffic.signed("\(state)-\(number)", app: number)
            if number % 2 == 0 { traffic.claimAgain("\(state)-\(number)-again") }
        }
        try traffic.flush()
        guard look(every: 20, for: Self.limit, until: { isHeld.isRaised }) else {
            throw ChaosFailure("no worker came to \(state.rawValue)")
        }
        let start = Instant.now
        let other = try world.start(1)
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        let count = try judge.wait(Self.limit)
        let tables = LedgerTables(world.ledger)
        look(every: 200, for: Self.limit) { tables.count("outbox") == 0 && tables.count("retries") == 0 }
        let tookOver = seconds(since: start)
        rest(until: start + .seconds(options.seconds))
        let before = written(tables)
        frozen.signal(SIGCONT)
        isOver.raise()
        // Enough for what it had under way, and for its return into the group.
        rest(milliseconds: 5000)
        let changed = written(tables).symmetricDifference(before).count
        say(
            "\(state.rawValue): frozen for \(options.seconds) s, \(count) of \(traffic.expected.count) told after "
                + "\(tookOver) s, \(changed) rows written once it was awake")
        report.expect(count == traffic.expected.count, "\(state.rawValue): not all is told")
        report.expect(changed == 0, "\(state.rawValue): \(changed) rows changed")
        report.stop([frozen, other])
    }

    /// The rows that writes make, with the transaction that made each.
    private func written(_ tables: LedgerTables) -> Set<[String]> {
        var rows: Set<[String]> = []
        for (table, key) in [
            ("grants", "transaction_id"), ("answers", "submission_id"), ("outbox", "key"), ("retries", "submission_id"),
        ] {
            rows.formUnion(tables.rows("SELECT '\(table)', \(key), xmin::text FROM \(table)") ?? [])
        }
        return rows
    }
}

/// Raised once, by one thread for another.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .acquiring) }

    func raise() { value.store(true, ordering: .releasing) }

    func wait() { while !isRaised { rest(milliseconds: 5) } }
}
