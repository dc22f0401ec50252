import Foundation
import Scheduling
import Testing

@testable import Simulation

@Suite("Traces")
struct TraceTests {
    private func trace(seed: UInt64, submission: String? = nil) -> [String] {
        var lines: [String] = []
        _ = Simulation.run(seed: seed, trace: Trace(submission: submission) { lines.append($0) })
        return lines
    }

    @Test("have one short line per event", arguments: [1, 9, 305] as [UInt64])
    func short(seed: UInt64) {
        let lines = trace(seed: seed)
        #expect(lines.count > 100)
        for line in lines { #expect(line.count <= Trace.width && !line.contains("\n"), "\(line)") }
    }

    @Test("do not change the run", arguments: [1, 9] as [UInt64])
    func unchanged(seed: UInt64) {
        let world = World(seed: seed)
        let traced = World(seed: seed, trace: Trace { _ in })
        #expect(world.run() == traced.run() && world.now == traced.now && world.random.next() == traced.random.next())
    }

    @Test("of a submission are about no other one")
    func filtered() {
        let ids = Simulation.submissions(of: 3)
        #expect(ids.count > 30)
        for id in ids {
            let others = trace(seed: 3, submission: id).compactMap { line in
                ids.first { $0 != id && line.split(separator: " ").contains(Substring($0)) }
            }
            #expect(others == [], "\(id)")
        }
    }

    @Test("know every answer that is given in place of the truth")
    func spells() {
        let said = (UInt64(1)...400).flatMap { World(seed: $0).apple.spells.values.map(\.text) }
        #expect(Set(said) == Set(Spell.Answer.allCases.map { "\($0)" }))
    }
}

/// A walk's first block of code is its command, and the others are what that prints.
@Suite("docs/walks.md")
struct WalksTests {
    private struct Walk {
        var seed: UInt64?
        var submission: String?
        var output: [String] = []
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func page() throws -> [String] {
        let file = Self.root.appending(path: "docs/walks.md")
        return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    }

    private func walks() throws -> [Walk] {
        var walks: [Walk] = []
        var isCode = false
        for line in try page() {
            if line.hasPrefix("```") {
                isCode.toggle()
            } else if isCode, line.hasPrefix("$ grantor-simulate --seed ") {
                let words = line.split(separator: " ")
                walks.append(Walk(seed: UInt64(words[3]), submission: words.count == 6 ? String(words[5]) : nil))
            } else if isCode, !walks.isEmpty {
                walks[walks.count - 1].output.append(line)
            }
        }
        return walks
    }

    @Test("shows what the program prints")
    func printed() throws {
        let walks = try walks()
        #expect(walks.count == 2)
        for walk in walks {
            let (seed, submission) = (try #require(walk.seed), try #require(walk.submission))
            var lines: [String] = []
            let violations = Simulation.run(seed: seed, trace: Trace(submission: submission) { lines.append($0) })
            #expect(violations == [])
            #expect(
                walk.output == lines,
                "cut the page anew: grantor-simulate --seed \(seed) --submission \(submission)")
        }
    }

    @Test("names functions that the core has")
    func functions() throws {
        let folder = Self.root.appending(path: "Sources/Processing")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var sources: [String: String] = [:]
        for case let file as URL in files where file.pathExtension == "swift" {
            sources[file.lastPathComponent] = try String(contentsOf: file, encoding: .utf8)
        }
        // As in: `outcomesLoaded` (`WorkerCore+Reading.swift`)
        let names = try page().joined(separator: "\n").matches(of: /`(\w+)`\s+\(`([\w+]+\.swift)`\)/)
        #expect(names.count > 10)
        for name in names {
            let isThere = sources[String(name.2)]?.contains("func \(name.1)(") ?? false
            #expect(isThere, "\(name.2) has no function \(name.1)")
        }
    }
}
