import CommandParser
import Configuration
import Contract
import FoundationEssentials
import Glibc

enum OutputFormat: Hashable, Sendable {
    /// For people; lines are cut to so many columns, nil leaves them whole.
    case text(width: Int?)
    case json

    func render(json: JSONOutput, text: (_ width: Int?) -> String) -> String {
        switch self {
        case .text(let width): text(width)
        case .json: json.text
        }
    }

    /// A page of a list.
    /// - Parameters:
    ///   - name: of what is listed.
    ///   - json: the same rows as the table's.
    ///   - next: the place that the next page begins behind; nil if this is the last page.
    ///   - isCut: whether it has fewer rows than were asked for although others may follow.
    func page(
        _ name: String, _ table: TextTable, _ json: [JSONOutput], next: String?, isCut: Bool = false
    ) -> String {
        render(json: .object([name: .list(json), "next": .text(next)])) { width in
            let rows = json.isEmpty ? "" : table.text(maxWidth: width)
            guard let next else { return json.isEmpty ? "No \(name).\n" : rows }
            let more = isCut ? "Earlier rows are not looked through yet; go on" : "More"
            return "\(rows)\(more): --before \(next)\n"
        }
    }
}

/// Output in JSON, for people and scripts.
enum JSONOutput: Encodable, Sendable, ExpressibleByStringLiteral {
    case string(String)
    case number(Int64)
    case truth(Bool)
    case list([JSONOutput])
    case object([String: JSONOutput])
    /// A member of an object that is left out.
    case absent

    init(stringLiteral text: String) { self = .string(text) }

    static func text(_ text: String?) -> Self { text.map { .string($0) } ?? .absent }
    static func id<Kind>(_ id: Identifier<Kind>?) -> Self { text(id?.rawValue) }
    static func word(_ word: (some RawRepresentable<String>)?) -> Self { text(word?.rawValue) }
    static func time(_ moment: Timestamp?) -> Self { text(moment?.rfc3339) }
    static func count(_ number: Int) -> Self { .number(Int64(number)) }

    /// Indented, members sorted by name, with a line break at its end. No character of it could steer a terminal.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Only floating-point numbers can fail, and there are none.
        guard let encoded = try? encoder.encode(self) else { return "{}\n" }
        return PrintableText.escapedInJSON(String(decoding: encoded, as: UTF8.self)) + "\n"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .truth(let isTrue): try container.encode(isTrue)
        case .list(let values): try container.encode(values)
        case .object(let members):
            try container.encode(members.filter { if case .absent = $0.value { false } else { true } })
        case .absent: try container.encodeNil()
        }
    }
}

/// Rows in aligned columns, two spaces between them.
struct TextTable: Hashable, Sendable {
    let header: [String]
    let rows: [[String]]
    /// Whether the first column, the row's subject, shrinks last, and to half of the width at most.
    var keepsFirst = false
    /// Columns that never give way.
    var whole: Set<String> = []

    /// No column is made narrower than this to fit.
    static let minColumnWidth = 8
    private static let gap = "  "

    /// The table without the columns that say nothing of any row.
    func withoutEmptyColumns() -> TextTable {
        let kept = header.indices.filter { column in
            rows.isEmpty || rows.contains { $0.indices.contains(column) && $0[column] != "-" }
        }
        return TextTable(
            header: kept.map { header[$0] },
            rows: rows.map { row in kept.compactMap { row.indices.contains($0) ? row[$0] : nil } },
            keepsFirst: keepsFirst, whole: whole)
    }

    /// The table with a line break after each row, without spaces at the ends of lines.
    /// - Parameter maxWidth: lines have at most so many columns of the terminal; the widest columns give way first. Nil
    ///   to leave everything whole.
    func text(maxWidth: Int? = nil) -> String {
        let lines = ([header] + rows).map { $0.map(PrintableText.singleLine) }
        let full = header.indices.map { column in
            lines.map { $0.indices.contains(column) ? PrintableText.width(of: $0[column]) : 0 }.max() ?? 0
        }
        let widths = maxWidth.map { fit(full, to: $0) } ?? full
        return lines.map { Self.line($0, widths, maxWidth) + "\n" }.joined()
    }

    /// The widths after the widest were narrowed as far as they may be.
    private func fit(_ widths: [Int], to maxWidth: Int) -> [Int] {
        var widths = widths
        var excess = widths.reduce(0, +) + Self.gap.count * max(0, widths.count - 1) - maxWidth
        let yielding = widths.indices.dropFirst(keepsFirst ? 1 : 0).filter { !whole.contains(header[$0]) }
        while excess > 0, let widest = yielding.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > Self.minColumnWidth
        {
            widths[widest] -= 1
            excess -= 1
        }
        if keepsFirst, excess > 0, let first = widths.first {
            widths[0] = first - min(excess, max(0, first - maxWidth / 2))
        }
        return widths
    }

    private static func line(_ cells: [String], _ widths: [Int], _ maxWidth: Int?) -> String {
        let padded = zip(cells, widths).map { cell, width in
            let cell = PrintableText.cut(cell, to: width)
            return cell + String(repeating: " ", count: max(0, width - PrintableText.width(of: cell)))
        }
        var line = padded.joined(separator: gap)
        while line.last == " " { line.removeLast() }
        return maxWidth.map { PrintableText.cut(line, to: $0) } ?? line
    }
}

/// Names and values, one per line, values aligned.
struct TextFields: Sendable {
    let fields: [(name: String, value: String)]

    /// The lines, indented by two spaces.
    func text() -> String {
        let fields = fields.map { (PrintableText.singleLine($0.name), PrintableText.singleLine($0.value)) }
        let width = fields.map { PrintableText.width(of: $0.0) }.max() ?? 0
        return fields.map { name, value in
            "  \(name)\(String(repeating: " ", count: width - PrintableText.width(of: name)))  \(value)\n"
        }.joined()
    }
}

/// Sentences or facts, indented by two spaces.
enum TextParagraph {
    /// - Parameter width: Lines have at most so many columns, unless one word is longer. Nil for one line.
    static func text(_ sentences: [String], _ width: Int?) -> String {
        let text = PrintableText.singleLine(sentences.joined(separator: " "))
        return lines(PrintableText.wrapped(text, to: columns(width)))
    }

    /// Facts with commas between them. Each stays whole, with all white space of an id in it.
    static func text(facts: [String], _ width: Int?) -> String {
        let words = facts.enumerated().map { place, fact in
            PrintableText.singleLine(fact) + (place + 1 < facts.count ? "," : "")
        }
        return lines(PrintableText.wrapped(words: words, to: columns(width)))
    }

    private static func columns(_ width: Int?) -> Int { width.map { max(1, $0 - 2) } ?? .max }
    private static func lines(_ lines: [String]) -> String { lines.map { "  \($0)\n" }.joined() }
}

extension TextFields {
    static func title(_ word: String, _ name: String) -> String { "\(word) \(PrintableText.singleLine(name))\n" }
}

/// The outputs of answers and failures.
enum StandardOutput {
    /// Writes an answer. A reader such as `head` that has closed the pipe has all that it wanted. The command then ends
    /// as if the rest had been read.
    /// - Throws: the end of a command whose answer cannot be written, such as to a full disk.
    static func write(_ text: String) throws(CommandFailure) { try write(bytes: Array(text.utf8)) }

    /// Writes an answer that is no text.
    static func write(bytes: [UInt8]) throws(CommandFailure) { try answer(bytes, to: STDOUT_FILENO) }

    static func answer(_ bytes: [UInt8], to descriptor: Int32) throws(CommandFailure) {
        guard !write(bytes, to: descriptor) else { return }
        let code = errno
        guard code != EPIPE else { return }
        throw CommandFailure(
            .failed, "the answer cannot be written to standard output: \(String(cString: strerror(code)))")
    }

    /// Writes a line about a failure. Where standard error cannot be written, the exit code says so.
    static func writeError(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// Writes all bytes. A descriptor that does not block, such as a pipe that its reader has made so, is waited for.
    /// - Returns: false if it takes no more; `errno` says why.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&room, 1, -1)
                continue
            }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}

/// The terminal on standard output.
enum Terminal {
    /// Characters per line; nil if standard output is no terminal or does not report its width: nothing is cut then.
    static func width(environment: [String: String]) -> Int? {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
        return width(
            isTerminal: isatty(STDOUT_FILENO) == 1, columns: environment["COLUMNS"],
            reported: isKnown ? Int(size.ws_col) : nil)
    }

    /// - Parameters:
    ///   - columns: the variable `COLUMNS`, by which POSIX lets a user overrule the terminal.
    ///   - reported: the terminal's own word; 0 if it does not know.
    static func width(isTerminal: Bool, columns: String?, reported: Int?) -> Int? {
        guard isTerminal else { return nil }
        return [columns.flatMap { Int($0) }, reported].compactMap { $0 }.first { $0 > 0 }
    }
}
