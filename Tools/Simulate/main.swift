import CommandParser
import Glibc

// Runs many seeds on all cores, or shows one: docs/simulation.md.
var words = Array(CommandLine.arguments.dropFirst())
let isHunt = words.first == "until-broken"
if isHunt { words.removeFirst() }
let wish = SimulateProgram.Wish()
let status = Program(isHunt ? SimulateProgram.hunt : SimulateProgram.runs, version: "0.2.0").run(
    words, context: wish, output: { print($0, terminator: "") },
    errors: { text in _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) } })
guard let seeds = wish.seeds else { exit(status.rawValue) }
exit(await seeds.run() ? 0 : 1)
