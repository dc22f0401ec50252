/// What libpq tells of a connection that did not come about, read for people and for the SQLSTATE in it.
struct ConnectionRefusal: Hashable, Sendable {
    let text: String
    let state: String?

    /// Reads libpq's message: one line per address that was tried, a server's own answer as
    /// `FATAL:  28P01: password authentication failed`. The last one counts; lines that begin with a tab are hints to it.
    init(_ message: String) {
        let lines = message.split(whereSeparator: \.isNewline)
            .filter { !$0.hasPrefix("LOCATION:") && !$0.hasPrefix("\t") }
        guard let line = lines.last(where: { Self.state(in: $0) != nil }) ?? lines.last else {
            self.init(text: "no message", state: nil)
            return
        }
        self.init(text: String(line).firstLine, state: Self.state(in: line))
    }

    private init(text: String, state: String?) {
        self.text = text
        self.state = state
    }

    var failure: PostgresFailure { .unreachable(text, state: state) }

    /// Five of `[0-9A-Z]` between the severity and the message.
    private static func state(in line: Substring) -> String? {
        for part in line.split(separator: ":").dropFirst() {
            let word = part.drop { $0 == " " }
            guard word.count == 5, part.hasPrefix("  "), word.contains(where: \.isNumber),
                word.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) })
            else { continue }
            return String(word)
        }
        return nil
    }
}
