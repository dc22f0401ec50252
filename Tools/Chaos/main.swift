import Glibc

/// Breaks the worker or its surroundings, and judges the topics and the ledger.
///
///     grantor-chaos RUN [--program PATH] [--OPTION VALUE]...
///
/// It runs on Apache Kafka if `KAFKA_HOME` names one, else on librdkafka's mock. Exit code 1 if a promise is broken,
/// 2 if the run itself cannot go on. docs/chaos.md describes each run.
let runs: [String: any Run.Type] = [
    "failover": FailoverRun.self,
    "replaced": ReplacedRun.self,
    "frozen": FrozenRun.self,
    "rebalance": RebalanceRun.self,
    "fleet": FleetRun.self,
    "kills": KillRun.self,
    "inventory": InventoryRun.self,
    "isolation": IsolationRun.self,
    "forgotten": ForgottenRun.self,
    "refused": RefusedRun.self,
    "oversized": OversizedRun.self,
    "stop": StopRun.self,
    "tokens": TokensRun.self,
    "unlisted": UnlistedRun.self,
]
let words = CommandLine.arguments.dropFirst()
guard let name = words.first, let chosen = runs[name] else {
    say("usage: grantor-chaos \(runs.keys.sorted().joined(separator: "|")) [--OPTION VALUE]...")
    exit(64)
}
do {
    try SmallDisk.keepMountsPrivate()
    var run = chosen.init(options: try Options(words.dropFirst()))
    let isGood = try run.run()
    say(isGood ? "PASSED \(name)" : "FAILED \(name)")
    exit(isGood ? 0 : 1)
} catch {
    ChildWorker.endAll()
    say("the run cannot go on: \(error)")
    exit(2)
}
