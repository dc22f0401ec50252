import AppStoreSimulator
import CommandParser
import Glibc

/// Writes a text to a descriptor; a reader that is gone is none to tell.
@Sendable func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

/// The signals that end the program. They are blocked before there is a thread, so that none of them takes one.
func endSignals() -> sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    return signals
}

var blocked = endSignals()
pthread_sigmask(SIG_BLOCK, &blocked, nil)

let context = SimulatorProgram.Context(
    write: { write($0, to: STDOUT_FILENO) },
    waitForEnd: {
        var signals = endSignals()
        var number: Int32 = 0
        sigwait(&signals, &number)
    })
let status = SimulatorProgram.program.run(
    Array(CommandLine.arguments.dropFirst()), context: context, output: { write($0, to: STDOUT_FILENO) },
    errors: { write($0, to: STDERR_FILENO) })
exit(status.rawValue)
