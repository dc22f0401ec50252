/// A table of docs/configuration.md, so that document and worker are compared.
struct DocumentedTable {
    private static let file = "docs/configuration.md"

    /// Of each row, by its heading: its cells, without marks of code.
    private var rows: [[String: String]] = []

    /// Reads the table whose first column has this heading.
    init(of first: String) throws(ChaosFailure) {
        guard let text = readText(Self.file) else {
            throw ChaosFailure("cannot read \(Self.file): start in the checkout")
        }
        var heading: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let cells = line.split(separator: "|").map { trimmed($0.filter { $0 != "`" }) }
            if cells.first == first {
                heading = cells
            } else if !heading.isEmpty, heading.count == cells.count {
                rows.append(Dictionary(zip(heading, cells)) { first, _ in first })
            } else if !rows.isEmpty {
                break
            }
        }
        guard rows.count > 1 else { throw ChaosFailure("\(Self.file) has no table that begins with \(first)") }
    }

    /// The cell of a column in the first row that fits; nil if none does.
    func cell(_ column: String, where fits: ([String: String]) -> Bool) -> String? { rows.first(where: fits)?[column] }
}

/// A text without the spaces around it.
func trimmed(_ text: String) -> String {
    var text = text[...]
    while text.last == " " { text.removeLast() }
    return String(text.drop { $0 == " " })
}

/// A text with spaces behind it, for the columns of a printed table.
func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}
