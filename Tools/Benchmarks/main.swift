import CommandParser
import Glibc

// Measures workers from outside: docs/performance.md has the figures.
let status = Program(BenchProgram.root, version: "0.2.0").run(
    Array(CommandLine.arguments.dropFirst()), context: (), output: Console.show, errors: Console.tell)
exit(status.rawValue)
