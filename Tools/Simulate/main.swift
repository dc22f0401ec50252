import Glibc
import Simulation

/// Runs many seeds on all cores, or shows one in full.
///
///     grantor-simulate [FIRST] [COUNT]                Runs seeds from FIRST on; exit code 1 if a promise is broken.
///     grantor-simulate until-broken [FIRST] [COUNT]   Does the same, and ends with the first seed that breaks one.
///     grantor-simulate trace SEED                     Shows every input, action and fault of one seed.
var arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "trace", arguments.count == 2, let seed = UInt64(arguments[1]) {
    let violations = Simulation.run(seed: seed, trace: Trace { print($0) })
    for violation in violations { print("BROKEN", violation) }
    exit(violations.isEmpty ? 0 : 1)
}
let isHunt = arguments.first == "until-broken"
if isHunt { arguments.removeFirst() }
guard let first = UInt64(arguments.first ?? "1"), let count = UInt64(arguments.dropFirst().first ?? "1000"),
    arguments.count <= 2
else {
    print("usage: grantor-simulate [until-broken] [FIRST] [COUNT] | grantor-simulate trace SEED")
    exit(64)
}
exit(await Seeds(first: first, count: count, most: isHunt ? 1 : Seeds.maxShown).run() ? 0 : 1)
