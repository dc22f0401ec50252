import Glibc

/// Breaks the worker or its surroundings, and judges the topics and the ledger.
///
///     grantor-chaos RUN [--program PATH] [--OPTION VALUE]...
///
/// It runs on Apache Kafka if `KAFKA_HOME` names one, else on librdkafka's mock. Exit code 1 if a promise is broken,
/// 2 if the run itself cannot go on. docs/chaos.md describes each run.
let runs: [String: (Options) throws -> Bool] = [
    "failover": { try FailoverRun($0).run() },
    "replaced": { try ReplacedRun($0).run() },
    "frozen": { try FrozenRun($0).run() },
    "rebalance": { try RebalanceRun($0).run() },
    "fleet": { try FleetRun($0).run() },
    "kills": { try KillRun($0).run() },
    "inventory": {
        var run = InventoryRun($0)
        return try run.run()
    },
    "isolation": { try IsolationRun($0).run() },
    "forgotten": { try ForgottenRun($0).run() },
    "refused": { try RefusedRun($0).run() },
    "oversized": { try OversizedRun($0).run() },
    "stop": { try StopRun($0).run() },
    "tokens": { try TokensRun($0).run() },
    "unlisted": { try UnlistedRun($0).run() },
]
let words = CommandLine.arguments.dropFirst()
guard let name = words.first, let chosen = runs[name] else {
    say("usage: grantor-chaos \(runs.keys.sorted().joined(separator: "|")) [--OPTION VALUE]...")
    exit(64)
}
do {
    try SmallDisk.keepMountsPrivate()
    let isGood = try chosen(Options(words.dropFirst()))
    say(isGood ? "PASSED \(name)" : "FAILED \(name)")
    exit(isGood ? 0 : 1)
} catch {
    ChildWorker.endAll()
    say("the run cannot go on: \(error)")
    exit(2)
}
