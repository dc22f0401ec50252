import Foundation
import Synchronization

/// Shows people how far a long run has got: one line that moves on a terminal, a line now and then elsewhere.
final class ProgressDisplay: Sendable {
    private let isTerminal: Bool
    private let lastShown = Mutex<Int>(-1)

    init(isTerminal: Bool = isatty(FileHandle.standardOutput.fileDescriptor) != 0) {
        self.isTerminal = isTerminal
    }

    /// A line that stays.
    func say(_ line: String) {
        write(line + "\n")
    }

    /// Moves the progress of a step; elsewhere than on a terminal each tenth gets a line.
    func update(_ step: String, done: Int, of total: Int, answers: DemoAnswers) {
        let line = line(step, done: done, of: total, answers: answers)
        guard !isTerminal else { return write("\r" + line) }
        let tenth = total == 0 ? 10 : done * 10 / total
        let isNew = lastShown.withLock { last in
            defer { last = tenth }
            return last != tenth && tenth < 10
        }
        if isNew { write(line + "\n") }
    }

    /// Ends the progress of a step with a line that stays.
    func finish(_ step: String, done: Int, answers: DemoAnswers) {
        lastShown.withLock { $0 = -1 }
        write((isTerminal ? "\r" : "") + line(step, done: done, of: done, answers: answers) + "\n")
    }

    private func line(_ step: String, done: Int, of total: Int, answers: DemoAnswers) -> String {
        let width = 24
        let filled = total == 0 ? width : done * width / total
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "  [\(bar)] \(done)/\(total) \(step)   granted \(answers.distinctGrants)  failed "
            + "\(answers.failedSubmissions.count)  quarantined \(answers.quarantined)  "
    }

    private func write(_ text: String) {
        // Progress that nobody can see is no reason to stop.
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}
