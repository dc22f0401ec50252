import Contract
import Foundation
import Testing

/// The tables of words in docs/integration.md, which authors of backends read instead of the code.
@Suite("docs/integration.md")
struct IntegrationPageTests {
    @Test("explains each reason of a failure, in the order of the code")
    func reasons() throws {
        try expect(FailureReason.allCases.map(\.rawValue), under: "Reasons of failures")
    }

    @Test("says of each reason how to submit again and what to tell the player, as commands do")
    func advice() throws {
        for (row, reason) in zip(try rows(under: "Reasons of failures"), FailureReason.allCases) {
            #expect(row[3] == reason.again.rawValue, "\(reason)")
            #expect(row[4] == reason.wordsForPlayer, "\(reason)")
        }
    }

    @Test("explains each cause of a retry, in the order of the code")
    func retries() throws {
        try expect(RetryCause.allCases.map(\.rawValue), under: "Retrying: Apple cannot tell yet", mayBeEmpty: 3)
    }

    @Test("names reasons alone as ends of a doubt")
    func ends() throws {
        let words = try rows(under: "Retrying: Apple cannot tell yet").flatMap { row in
            row[3].matches(of: /`([a-z_]+)`/).map { String($0.1) }
        }
        #expect(!words.isEmpty)
        for word in words { #expect(FailureReason(rawValue: word) != nil, "\(word)") }
    }

    @Test("explains each cause of a hold, in the order of the code")
    func holds() throws {
        try expect(HoldCause.allCases.map(\.rawValue), under: "Held: an operator must act")
    }

    /// Expects a table with a row for each word and nothing else, and something in each cell.
    private func expect(_ words: [String], under heading: String, mayBeEmpty: Int? = nil) throws {
        let rows = try rows(under: heading)
        #expect(rows.map { $0[0] } == words.map { "`\($0)`" })
        for row in rows {
            for (place, cell) in row.enumerated() where place != mayBeEmpty { #expect(!cell.isEmpty, "\(row[0])") }
        }
    }

    /// The cells of the rows of the first table under a heading, without its head.
    private func rows(under heading: String) throws -> [[String]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let page = try String(contentsOf: folder.appending(path: "../../docs/integration.md"), encoding: .utf8)
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.drop { $0 == "#" } == " \(heading)" })
        let table = lines[start...].drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        let rows = table.dropFirst(2).map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let columns = try #require(rows.first).count
        try #require(columns > 3 && rows.allSatisfy { $0.count == columns })
        return rows
    }
}
