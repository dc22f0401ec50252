extension String {
    /// With spaces in front, up to a width.
    func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }

    /// With spaces behind, up to a width.
    func rightPadded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

/// Names on the left, values on the right.
struct TextTable {
    private var rows: [(name: String, value: String)] = []

    mutating func add(_ name: String, _ value: some CustomStringConvertible) {
        rows.append((name, "\(value)"))
    }

    /// A line between parts.
    mutating func add(title: String) {
        rows.append(("", ""))
        rows.append((title, ""))
    }

    var text: String {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.map { $0.value.isEmpty ? $0.name : "  \($0.name.rightPadded(to: width))  \($0.value)" }
            .joined(separator: "\n")
    }
}

/// Milliseconds, for people.
func secondsText(_ milliseconds: some BinaryInteger) -> String {
    "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
}

extension Duration {
    /// For people.
    var text: String { secondsText(Int64(self / .milliseconds(1))) }
}
