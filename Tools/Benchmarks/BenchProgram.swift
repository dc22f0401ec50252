import CommandParser

/// The command line.
enum BenchProgram {
    static let root = Command<Void>(
        "grantor-bench", "Measures workers from outside.",
        discussion: """
            Every run has a broker, a ledger and a stand-in for Apple of its own, all on this machine. KAFKA_HOME names \
            the folder of Apache Kafka. CPU time is told apart by processes. Progress goes to standard error.
            """,
        subcommands: [worker, memory, scale, latency, outage, growth, api, audit, prune, imported, republish])

    // MARK: Parameters

    private static let json = Parameter.flag("json", help: "Print JSON, with the value of each run.")
    private static let runs = Parameter.option("runs", .integer(1...100), default: 3, help: "Runs; medians are shown.")
    private static let program = Parameter<String?>.option(
        "program", .text, help: "The worker; without it, grantor beside this program.")
    private static let evidence = Parameter.option(
        "evidence", .choice, default: EvidenceKind.signed, help: "The evidence of each submission.")
    private static let ledger = Parameter.option(
        "ledger", .choice, default: LedgerKind.postgres, help: "The ledger's database.")
    private static let submissions = Parameter.option(
        "submissions", .integer(100...10_000_000), default: 100_000, help: "Submissions that wait.")
    private static let milliseconds = Parameter.option(
        "latency", .integer(0...60_000), default: 0, help: "Milliseconds that Apple's replies take.")
    private static let calls = Parameter.option(
        "calls", .integer(1...10_000), default: 1000, help: "Most calls to Apple at once, of each worker.")
    private static let rate = Parameter.option(
        "rate", .integer(1...10_000), default: 1000, help: "Submissions a second.")
    private static let seconds = Parameter.option(
        "seconds", .integer(1...3600), default: 30, help: "How long they come.")
    private static let workers = Parameter.option("workers", .integer(1...100), default: 20, help: "Workers.")
    private static let receipts = Parameter.option(
        "receipts", .integer(100...1_000_000), default: 200_000, help: "Receipts that wait for Apple.")
    private static let away = Parameter.option(
        "away", .integer(10...3600), default: 600, help: "Seconds that Apple is away, once they wait.")
    private static let grants = Parameter.option(
        "grants", .integer(1000...100_000_000), default: 20_000_000, help: "Grants in the full ledger.")

    private static let rows = Parameter.option(
        "rows", .integer(1000...100_000_000), default: 2_000_000, help: "Grants of each turn, before a checkpoint.")

    // MARK: Commands

    private static let worker = measurement(
        "worker", "A worker with a backlog: rate, CPU and memory, beside the part that cannot be spared.",
        [evidence, submissions, milliseconds, calls, ledger]
    ) { arguments, programs in
        let load = Throughput(
            programs: programs, evidence: try arguments[evidence], ledger: try arguments[ledger],
            submissions: try arguments[submissions], latency: try arguments[milliseconds],
            calls: try arguments[calls])
        return WorkerRun(load: load).figures
    }

    private static let memory = measurement(
        "memory", "The memory of a worker with 1,000 and with 4,000 calls to Apple under way.", [ledger]
    ) { arguments, programs in
        let load = Throughput(
            programs: programs, evidence: .receipt, ledger: try arguments[ledger], submissions: 30_000, latency: 1000)
        return MemoryRun(load: load).figures
    }

    private static let scale = measurement(
        "scale", "The rate of 2 and 4 workers, of 100 calls of 250 ms each, beside that of one."
    ) { _, programs in
        let load = Throughput(
            programs: programs, evidence: .receipt, submissions: 10_000, latency: 250, calls: 100)
        return ScaleRun(load: load).figures
    }

    private static let latency = measurement(
        "latency", "The time from submissions to their events, at a steady pace.", [evidence, rate, seconds, ledger]
    ) { arguments, programs in
        LatencyRun(
            programs: programs, evidence: try arguments[evidence], ledger: try arguments[ledger],
            rate: try arguments[rate], seconds: try arguments[seconds]
        ).figures
    }

    private static let outage = measurement(
        "outage", "A fleet on PostgreSQL while Apple is away, with receipts that wait, and after Apple's return.",
        [workers, receipts, away]
    ) { arguments, programs in
        OutageRun(
            programs: programs, workers: try arguments[workers], receipts: try arguments[receipts],
            seconds: try arguments[away]
        ).figures
    }

    private static let growth = measurement(
        "growth", "The rate of writes into a ledger with many grants, beside that into an empty one.",
        [ledger, grants, rows]
    ) { arguments, _ in
        try GrowthRun(try arguments[ledger], grants: try arguments[grants], rows: try arguments[rows]).figures
    }

    private static let purchases = Parameter.option(
        "purchases", .integer(1000...100_000_000), default: 10_000_000, help: "Purchases that are audited.")

    private static let audit = measurement(
        "audit", "The time and memory of an audit on PostgreSQL, and the pace of writes meanwhile.", [purchases]
    ) { arguments, programs in
        AuditRun(programs: programs, purchases: try arguments[purchases]).figures
    }

    private static let imported = measurement(
        "import", "The pace of an import of grants from elsewhere, on PostgreSQL.", [purchases]
    ) { arguments, programs in
        ImportRun(programs: programs, purchases: try arguments[purchases]).figures
    }

    private static let failures = Parameter.option(
        "failures", .integer(1000...100_000_000), default: 5_000_000, help: "Failures that are deleted.")
    private static let pace = Parameter.option(
        "pace", .integer(1...100_000), default: 5000, help: "Rows or events a second that the command may take.")

    private static let prune = measurement(
        "prune", "The deletion of old failures on PostgreSQL, and the time of writes meanwhile.", [failures, pace]
    ) { arguments, programs in
        PruneRun(programs: programs, failures: try arguments[failures], pace: try arguments[pace]).figures
    }

    private static let events = Parameter.option(
        "events", .integer(1000...10_000_000), default: 1_000_000, help: "Events that are published again.")

    private static let republish = measurement(
        "republish", "Events that are published again, beside a worker under a steady load.", [events, pace]
    ) { arguments, programs in
        RepublishRun(programs: programs, events: try arguments[events], pace: try arguments[pace]).figures
    }

    private static let requests = Parameter.option(
        "requests", .integer(10...10_000), default: 1000, help: "Requests to the API a second.")

    private static let api = measurement(
        "api", "The read-only API of a worker under a steady load.", [rate, requests, seconds]
    ) { arguments, programs in
        APIRun(
            programs: programs, rate: try arguments[rate], requests: try arguments[requests],
            seconds: try arguments[seconds]
        ).figures
    }

    /// A command that measures several times, and prints the medians.
    private static func measurement(
        _ name: String, _ summary: String, _ parameters: [any AnyParameter] = [],
        _ make: @escaping @Sendable (ParsedArguments, Programs) throws -> () throws -> [Figure]
    ) -> Command<Void> {
        Command(name, summary, parameters + [runs, program, json]) { arguments, _ throws(CommandFailure) in
            do {
                let run = try make(arguments, Programs(worker: try arguments[program]))
                let report = try Report(runs: try arguments[runs], run)
                Console.show(arguments[json] ? try report.json() : report.table)
            } catch let failure as CommandFailure {
                throw failure
            } catch {
                throw CommandFailure(.failed, "\(error)")
            }
        }
    }
}
