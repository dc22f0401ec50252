import CSQLite
import Contract
import Glibc
import Scheduling

/// Workers share a ledger in which another process holds the lock of writers again and again.
struct LockedRun {
    private static let locks = 3
    private static let perSecond = 50
    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() throws -> Bool {
        let world = try World(options)
        let traffic = try Traffic(world)
        var report = Report()
        var fleet: [ChildWorker?] = [try world.start(0), try world.start(1), try world.start(2)]
        let start = Instant.now
        var sent = 0
        var changes = 0
        /// Submissions of a second, and one change among the workers every three seconds.
        func second(_ number: Int) throws {
            for _ in 0..<Self.perSecond {
                try traffic.signed("order-\(sent)", app: sent)
                sent += 1
            }
            if number % 3 == 2 {
                try change(&fleet, world, &report)
                changes += 1
            }
            rest(milliseconds: 1000)
        }
        for number in 0..<5 { try second(number) }
        for lock in 0..<Self.locks {
            let holder = try Lock(path: world.ledger)
            for number in 0..<options.seconds { try second(number) }
            holder.release()
            say("lock \(lock + 1) of \(options.seconds) s is over")
            for number in 0..<5 { try second(number) }
        }
        try traffic.flush()
        for place in fleet.indices where fleet[place] == nil { fleet[place] = try world.start(place) }
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        let count = try judge.wait(.seconds(180))
        say("\(count) of \(sent) submissions are granted after \(seconds(since: start)) s")
        say("\(changes) times a worker joined, left or was killed")
        report.stop(fleet.compactMap { $0 })
        report.add(try judge.judge(ledger: world.ledger))
        return report.end(world)
    }

    /// A worker is killed and started again, leaves in order, or joins.
    private func change(_ fleet: inout [ChildWorker?], _ world: World, _ report: inout Report) throws {
        let place = Int.random(in: fleet.indices, using: &world.random)
        guard let worker = fleet[place] else {
            fleet[place] = try world.start(place)
            return
        }
        if let code = worker.ended() {
            report.expect(code == 0, "worker \(place) ended by itself: \(code)")
        } else if Bool.random(using: &world.random) {
            worker.end(by: SIGKILL)
            fleet[place] = try world.start(place)
            return
        } else {
            // It need not be able to finish anything while the ledger is locked; it has to end.
            let code = stop(worker)
            report.expect(code == 0, "worker \(place) ended with \(code.map(String.init) ?? "nothing") after SIGTERM")
        }
        fleet[place] = nil
    }

    private func stop(_ worker: ChildWorker) -> Int32? {
        worker.signal(SIGTERM)
        if let code = worker.ended(within: .seconds(28)) { return code }
        worker.end(by: SIGKILL)
        return nil
    }

    /// The lock of writers, held by this process.
    private struct Lock {
        private let database: OpaquePointer

        init(path: String) throws(ChaosFailure) {
            var opened: OpaquePointer?
            guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let opened else {
                throw ChaosFailure("cannot open the ledger")
            }
            database = opened
            sqlite3_busy_timeout(opened, 10_000)
            guard sqlite3_exec(opened, "BEGIN EXCLUSIVE", nil, nil, nil) == SQLITE_OK else {
                throw ChaosFailure("cannot lock the ledger")
            }
        }

        func release() {
            sqlite3_exec(database, "ROLLBACK", nil, nil, nil)
            sqlite3_close(database)
        }
    }
}
