/// Rows in aligned columns, two spaces between them.
struct TextTable: Hashable, Sendable {
    let header: [String]
    let rows: [[String]]

    /// The table with a line break after each row, without spaces at the ends of lines.
    ///
    /// - Parameter maxWidth: lines are cut to so many characters; nil to leave them whole.
    func text(maxWidth: Int? = nil) -> String {
        let lines = ([header] + rows).map { $0.map(PrintableText.singleLine) }
        let widths = header.indices.map { column in
            lines.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        return lines.map { Self.line($0, widths, maxWidth) + "\n" }.joined()
    }

    private static func line(_ cells: [String], _ widths: [Int], _ maxWidth: Int?) -> String {
        let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        var line = padded.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return maxWidth.map { PrintableText.cut(line, to: $0) } ?? line
    }
}

/// Names and values, one per line, values aligned.
struct TextFields: Sendable {
    let fields: [(name: String, value: String)]

    /// The lines, indented by two spaces.
    func text() -> String {
        let width = fields.map(\.name.count).max() ?? 0
        return fields.map { name, value in
            "  \(name)\(String(repeating: " ", count: width - name.count))  \(PrintableText.singleLine(value))\n"
        }.joined()
    }
}
