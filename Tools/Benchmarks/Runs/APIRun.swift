import Contract
import Glibc
import HTTPServer
import PostgresTesting
import Scheduling
import SocketTesting
import Synchronization
import Threading

/// The read-only API of a worker under a steady load: the times of its answers, and its cost to the worker.
struct APIRun {
    let programs: Programs
    /// Submissions a second.
    let rate: Int
    /// Requests a second.
    let requests: Int
    let seconds: Int
    /// Clients that ask in turns. Each waits for its answer before it asks again.
    private static let clients = 20
    private static let limit = Duration.seconds(5)

    func figures() throws -> [Figure] {
        let port = try Loopback.freePorts(1)[0]
        // A token may ask 20 times a second.
        let tokens = (0..<(requests / 10)).map { "token-of-a-benchmark-that-asks-\($0)-times" }
        let stage = try Stage(
            programs, ledger: .postgres, latency: 0, calls: 1000,
            settings: ["GRANTOR_API_BIND": "127.0.0.1:\(port)"], tokens: tokens)
        let load = try Load(stage)
        try stage.startWorker()
        try load.submit(5000, .signed)
        _ = try GrantedEvents.wait(stage, for: load, atMost: .seconds(60))
        let alone = try phase(stage, load)
        let asking = Asking(
            port: port, tokens: tokens, submissions: load.sentAt.count, rate: requests, clients: Self.clients)
        try asking.start()
        let meanwhile = try phase(stage, load)
        let answers = asking.end()
        try stage.end()
        return [
            Figure("requests a second", Double(answers.times.count) / (meanwhile.seconds), "1/s"),
            Figure("half of the answers within", answers.percentiles.at(50), "us"),
            Figure("99 of 100 answers within", answers.percentiles.at(99) / 1000, "ms", wanted: .atMost(20)),
            Figure("answers that were none", Double(answers.failures), "", wanted: .atMost(0)),
            Figure("load", Double(rate), "1/s"),
            Figure("99 of 100 events within, alone", alone.times.at(99), "ms"),
            Figure("99 of 100 events within, meanwhile", meanwhile.times.at(99), "ms"),
            Figure("granted a second, times alone", meanwhile.rate / alone.rate, "", wanted: .atLeast(0.97)),
        ]
    }

    private struct Phase {
        let rate: Double
        let seconds: Double
        let times: Percentiles
    }

    private func phase(_ stage: Stage, _ load: Load) throws -> Phase {
        let start = Instant.now
        let numbers = try load.submit(.signed, rate: rate, seconds: seconds)
        let events = try GrantedEvents.wait(stage, for: load, atMost: .seconds(60))
        let submissions = try GrantedEvents.submissions(stage)
        let came = numbers.compactMap { events.cameAt[Load.name($0)] }
        let span = Double((came.max() ?? 0) - (came.min() ?? 0)) / 1000
        return Phase(
            rate: Double(came.count) / max(span, 0.001), seconds: (Instant.now - start) / .seconds(1),
            times: events.times(of: numbers, since: submissions))
    }

    /// Clients that ask for submissions and for users in turns, at an even pace, until they are stopped.
    private final class Asking: Sendable {
        struct Answers {
            /// Microseconds that each took, from when it was due.
            var times: [Int64] = []
            var failures = 0
            var percentiles: Percentiles { Percentiles(times) }
        }

        private let port: Int
        private let tokens: [String]
        private let submissions: Int
        private let rate: Int
        private let clients: Int
        private let answers = Mutex(Answers())
        private let isOver = Atomic(false)
        private let threads = Mutex<[OwnerThread]>([])

        init(port: Int, tokens: [String], submissions: Int, rate: Int, clients: Int) {
            (self.port, self.tokens, self.submissions, self.rate, self.clients) =
                (port, tokens, submissions, rate, clients)
        }

        func start() throws {
            let made = try (0..<clients).map { client in
                try OwnerThread(name: "client-\(client)") { self.ask(as: client) }
            }
            threads.withLock { $0 = made }
        }

        func end() -> Answers {
            isOver.store(true, ordering: .relaxed)
            for thread in threads.withLock({ $0 }) { thread.join() }
            return answers.withLock { $0 }
        }

        private func ask(as client: Int) {
            let start = Instant.now
            var (mine, number) = (Answers(), client)
            while !isOver.load(ordering: .relaxed) {
                let due = start + .nanoseconds(Int64(number) * 1_000_000_000 / Int64(rate))
                EvenPace.wait(until: due)
                let order = number * 7919 % submissions
                let path =
                    number % 2 == 0 ? "submissions/\(Stage.app)/\(Load.name(order))" : "find?word=player-\(order)"
                do throws(ProbeFailure) {
                    let reply = try ProbeClient.get(
                        host: "127.0.0.1", port: port, path: "/v1/" + path, token: tokens[number % tokens.count],
                        within: APIRun.limit)
                    if reply.status != 200 { mine.failures += 1 }
                } catch {
                    mine.failures += 1
                }
                mine.times.append(Int64((Instant.now - due) / .microseconds(1)))
                number += clients
            }
            answers.withLock {
                $0.times += mine.times
                $0.failures += mine.failures
            }
        }
    }
}
