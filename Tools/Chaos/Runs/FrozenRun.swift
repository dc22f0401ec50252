import Contract
import Glibc
import KafkaScanning
import PostgresTesting
import Scheduling
import Synchronization

/// A worker is frozen in each state of a write, and awakes when another one has its partitions: it writes nothing.
struct FrozenRun: Run {
    private static let sessionTimeout = Duration.seconds(6)
    private static let limit = Duration.seconds(60)
    /// In each state.
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

        /// Whether new purchases come to it; repeats of claims that were granted do not.
        var isPlain: Bool { self == .plainUnsent || self == .plainUnanswered }

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

    let options: Options

    func run() throws -> Bool {
        let world = try World(
            options,
            World.Needs(ledger: .postgres, workersWithProxies: 1, sessionTimeout: Self.sessionTimeout))
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
        var claims: [Traffic.Claim] = []
        // A session writes on the fast path only products that it has seen.
        for number in 0..<Self.purchases { claims.append(try traffic.signed("\(state)-\(number)", app: number)) }
        try traffic.flush()
        _ = try TopicJudge(expected: traffic.expected, scan: world.scan).wait(Self.limit)
        let (isHeld, isOver) = (Flag(), Flag())
        world.proxies[0].hold(at: state.moment, of: { state.fits($0, $1) }) {
            frozen.signal(SIGSTOP)
            isHeld.raise()
            isOver.wait()
        }
        for (number, claim) in claims.enumerated() {
            if state.isPlain {
                try traffic.signed("\(state)-\(number)-more", app: number)
            } else {
                traffic.submit("\(state)-\(number)-again", claim)
            }
        }
        try traffic.flush()
        guard look(every: 20, for: Self.limit, until: { isHeld.isRaised }) else {
            throw ChaosFailure("no worker came to \(state.rawValue)")
        }
        let start = Instant.now
        let other = try world.start(1)
        let tables = LedgerTables(world.ledger)
        var answered = 0
        let isTold = try look(every: 500, for: Self.limit) {
            answered = try self.answered(state, world)
            return answered == Self.purchases && tables.count("outbox") == 0 && tables.count("retries") == 0
        }
        let tookOver = seconds(since: start)
        rest(until: start + .seconds(options.seconds))
        let before = written(tables)
        frozen.signal(SIGCONT)
        isOver.raise()
        // Enough for its work under way, and for its return into the group.
        rest(milliseconds: 5000)
        let changed = written(tables).symmetricDifference(before).count
        say(
            "\(state.rawValue): frozen for \(options.seconds) s, \(answered) of \(Self.purchases) told after "
                + "\(tookOver) s, \(changed) rows written once it was awake")
        report.expect(isTold, "\(state.rawValue): not all is told")
        report.expect(changed == 0, "\(state.rawValue): \(changed) rows changed")
        report.stop([frozen, other])
    }

    /// Claims of a state with an event, for its purchases or for its repeats.
    private func answered(_ state: WriteState, _ world: World) throws -> Int {
        var names: Set<String> = []
        try world.scan.read(topics: [Topic.granted.defaultName]) { batch in
            for record in batch.records {
                let mark = record.headers.first { $0.name == GrantedEvent.repeatHeader }?.value
                let name = mark.map { String(decoding: $0, as: UTF8.self) }
                if let name = name ?? TopicJudge.member("submissionId", record.value) { names.insert(name) }
            }
            return true
        }
        return names.count { $0.hasPrefix("\(state)-") && $0.hasSuffix(state.isPlain ? "-more" : "-again") }
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
