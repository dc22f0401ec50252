import Foundation

/// Results for people: columns under their headings, the first to the left, numbers to the right.
struct ColumnTable {
    private var rows: [[String]]

    init(_ headings: String...) {
        rows = [headings]
    }

    /// - Parameter cells: One for each heading.
    mutating func add(_ cells: String...) {
        rows.append(cells)
    }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { place, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return place == 0 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

extension Double {
    /// For people: with so many digits behind the point; a dash for no number.
    func text(_ digits: Int = 0) -> String { isFinite ? String(format: "%.\(digits)f", self) : "-" }
}
