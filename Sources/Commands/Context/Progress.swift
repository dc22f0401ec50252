import Scheduling

/// The latest line about a command that takes its time, on standard error: a bar on a terminal, and a line now and then
/// elsewhere.
struct Progress {
    private static let barWidth = 24

    private let output: ProgressOutput
    private let clock: @Sendable () -> Instant
    private let startedAt: Instant
    private var shownAt: Instant?

    init(_ context: CommandContext) {
        output = context.progress
        clock = context.clock
        startedAt = context.clock()
    }

    /// Shows where it is, unless it did so a moment ago.
    /// - Parameters:
    ///   - part: From 0 to 1; nil where the whole is not known.
    ///   - words: Such as "12 events published".
    mutating func show(_ part: Double?, _ words: String) {
        let now = clock()
        let pause: Duration = output.isTerminal ? .milliseconds(200) : .seconds(10)
        if let shownAt, now - shownAt < pause { return }
        if shownAt == nil, !output.isTerminal {
            shownAt = now
            return
        }
        shownAt = now
        let line = Self.line(part, words, elapsed: now - startedAt, hasBar: output.isTerminal)
        output.write(output.isTerminal ? "\r\u{1B}[K" + line : line + "\n")
    }

    /// Takes the bar away, before the answer comes.
    func end() {
        if output.isTerminal, shownAt != nil { output.write("\r\u{1B}[K") }
    }

    static func line(_ part: Double?, _ words: String, elapsed: Duration, hasBar: Bool) -> String {
        guard let part, part > 0 else { return words }
        let whole = min(part, 1)
        let filled = Int(whole * Double(barWidth))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled)
        let left = elapsed * ((1 - whole) / whole)
        let percent = Int(whole * 100)
        return (hasBar ? "[\(bar)] " : "") + "\(percent) %, \(words), \(left.rough) left"
    }
}

struct ProgressOutput: Sendable {
    /// Whether a line can be written over.
    let isTerminal: Bool
    let write: @Sendable (String) -> Void
}
