import Contract
import Foundation
import KafkaScanning
import Scheduling

/// The ends of submissions, as the topics and the operators' command tell it.
struct Outcomes {
    /// Most held submissions that are looked at: as many as one page of the command.
    private static let maxHeld = 1000

    private var granted: [String: Set<String>] = [:]
    private var again: [String: Set<String>] = [:]
    private var failed: [String: String] = [:]
    /// Nil as long as there is no ledger with them.
    private var held: [String: String]?

    /// Looks until all has come that is waited for, or the time for it is over.
    static func wait(_ world: World, for limit: Duration, until isOver: (Outcomes) -> Bool) throws -> Outcomes {
        var last = try Outcomes(world)
        try look(every: 500, for: limit) {
            last = try Outcomes(world)
            return isOver(last)
        }
        return last
    }

    private init(_ world: World) throws {
        try world.scan.read(topics: [Topic.granted.defaultName, Topic.failed.defaultName]) { batch in
            for record in batch.records {
                guard let name = TopicJudge.member("submissionId", record.value) else { continue }
                guard batch.partition.topic == Topic.granted.defaultName else {
                    failed[name] = TopicJudge.member("reason", record.value) ?? ""
                    continue
                }
                let transaction = TopicJudge.member("transactionId", record.value) ?? ""
                if let header = record.headers.first(where: { $0.name == GrantedEvent.repeatHeader })?.value {
                    again[String(decoding: header, as: UTF8.self), default: []].insert(transaction)
                } else {
                    granted[name, default: []].insert(transaction)
                }
            }
            return true
        }
        let page = try world.output(of: [
            "submissions", "list", "--state", "held", "--limit", String(Self.maxHeld), "--json",
        ])
        guard let page else { return }
        let rows = try JSONDecoder().decode(Page.self, from: Data(page.utf8)).submissions
        guard rows.count < Self.maxHeld else { throw ChaosFailure("more is held than one page tells") }
        held = Dictionary(rows.map { ($0.submissionId, $0.cause) }) { first, _ in first }
    }

    private struct Page: Decodable {
        struct Row: Decodable {
            let submissionId: String
            let cause: String
        }

        let submissions: [Row]
    }

    var isAnythingHeld: Bool { held.map { !$0.isEmpty } ?? true }

    /// In the words of the documented tables, and with the transactions: `granted 7, 8`, `granted again 7`, the reason
    /// of a failure, `held as product_not_configured`. Several only if the worker contradicts itself; nil if nothing
    /// came.
    subscript(name: String) -> String? {
        guard let held else { return nil }
        let words = [
            granted[name].map { "granted \($0.sorted().joined(separator: ", "))" },
            again[name].map { "granted again \($0.sorted().joined(separator: ", "))" },
            failed[name], held[name].map { "held as \($0)" },
        ].compactMap { $0 }
        return words.isEmpty ? nil : words.joined(separator: " and ")
    }
}
