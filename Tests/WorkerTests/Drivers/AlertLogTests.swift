import FoundationEssentials
import Testing

/// The page for people on duty.
@Suite struct AlertLogTests {
    private func text(_ path: String) throws -> String {
        // Tests/WorkerTests/Drivers/AlertLogTests.swift
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test("docs/operations.md tells what to do about each alert")
    func documented() throws {
        let page = try text("docs/operations.md")
        let lines = try text("Sources/Worker/AlertLog.swift")
        let kinds = lines.split(separator: "\"").filter { word in
            word.contains("_") && word.allSatisfy { $0.isLowercase || $0 == "_" }
        }
        #expect(kinds.contains("events_not_taken") && kinds.count > 10)
        for kind in kinds where kind != "away_for" { #expect(page.contains("`\(kind)`"), "\(kind) is missing") }
    }
}
