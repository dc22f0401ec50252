import Foundation

/// The figures of several runs of one measurement.
struct Report {
    private(set) var figures: [Figure] = []

    /// Runs a measurement several times, and shows its progress on standard error.
    init(runs: Int, _ run: () throws -> [Figure]) throws {
        for number in 1...runs {
            Console.tell("run \(number) of \(runs)\n")
            for figure in try run() {
                if let place = figures.firstIndex(where: { $0.name == figure.name }) {
                    figures[place].add(figure)
                } else {
                    figures.append(figure)
                }
            }
        }
    }

    /// A table for a terminal: medians, with the lowest and the highest value.
    var table: String {
        var rows = [["", "median", "lowest", "highest", "", "wanted"]]
        for figure in figures {
            let verdict = figure.isMet.map { $0 ? "" : "  missed" } ?? ""
            rows.append([
                figure.name, Figure.text(figure.median), Figure.text(figure.values.min() ?? 0),
                Figure.text(figure.values.max() ?? 0), figure.unit, (figure.wanted?.text ?? "") + verdict,
            ])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: widths[column] - text.count)
                // Numbers stand to the right.
                return (1...3).contains(column) ? padding + text : text + padding
            }.joined(separator: "  ").trimmingCharacters(in: .init(charactersIn: " ")) + "\n"
        }.joined()
    }

    /// The same as JSON, with every run's value.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(figures), as: UTF8.self) + "\n"
    }
}

/// Results go to standard output, and all else to standard error.
enum Console {
    static func show(_ result: String) { FileHandle.standardOutput.write(Data(result.utf8)) }

    static func tell(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

/// A measurement cannot go on, or its subject was wrong.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
