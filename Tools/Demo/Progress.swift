import Glibc

/// Shows people how far the demo is: one line that moves on a terminal, a line now and then elsewhere.
final class Progress {
    private static let width = 24
    /// Time between two lines of one step where there is no terminal.
    private static let pause = Duration.seconds(2)

    private let isTerminal = isatty(STDOUT_FILENO) != 0
    private let started = ContinuousClock.now
    private var lastShown: (line: String, at: ContinuousClock.Instant)?

    var elapsed: Duration { ContinuousClock.now - started }

    func say(_ line: String) {
        if isTerminal, lastShown != nil { write("\n") }
        lastShown = nil
        write(line + "\n")
    }

    func show(done: Int, of total: Int, answers: Answers) {
        let filled = total == 0 ? Self.width : done * Self.width / total
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        let line =
            "  [\(bar)] \(done)/\(total) answered   events: \(answers.granted) granted, \(answers.failures.count) "
            + "failed, \(answers.quarantined) quarantined"
        let now = ContinuousClock.now
        guard isTerminal || done == total || now - (lastShown?.at ?? started) >= Self.pause else { return }
        guard line != lastShown?.line else { return }
        write(isTerminal ? "\r" + line : line + "\n")
        lastShown = (line, now)
    }

    /// Progress that nobody can see is no reason to stop.
    private func write(_ text: String) {
        print(text, terminator: "")
        fflush(nil)
    }
}
