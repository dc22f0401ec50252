import Contract
import FoundationEssentials
import Ledger
import Testing

@testable import Audit

@Suite("Facts on disk") struct FactSpoolTests {
    private static func fact(_ text: String, _ kind: Fact.Kind, _ number: Int64) -> Fact {
        var bytes = AuditBytes()
        return Fact(
            AuditKey(submission: .init(bundleID: "app", submissionID: .init(text)), &bytes), kind, partition: 3,
            number: number, digest: UInt64(number))
    }

    @Test("All facts of all spools come back in order, however many fit in memory", arguments: [1, 2, 7, 100, 10_000])
    func order(bound: Int) throws {
        let folder = "/dev/shm/grantor-facts-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let spools = [FactSpool(folder: folder, bound: bound), FactSpool(folder: folder, bound: bound)]
        var facts: [Fact] = []
        for number in 0..<500 {
            let kind: Fact.Kind = number % 3 == 0 ? .outcome : .record
            let fact = Self.fact("s\(number * 7919 % 97)", kind, Int64(number))
            facts.append(fact)
            try spools[number % 2].add(fact)
        }
        var merge = try FactMerge(try spools.map { spool in try spool.finish() })
        var merged: [Fact] = []
        while let fact = try merge.next() { merged.append(fact) }
        #expect(merged == facts.sorted())
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test("A fact says again what it was made of")
    func parts() {
        let fact = Self.fact("s", .purchase, Fact.mostNumber - 1)
        #expect(fact.kind == .purchase)
        #expect(fact.partition == 3)
        #expect(fact.number == Fact.mostNumber - 1)
        #expect(MemoryLayout<Fact>.stride == 32)
    }

    @Test("A folder that takes no file is named")
    func noFolder() {
        let spool = FactSpool(folder: "/nowhere", bound: 1)
        #expect(throws: AuditError.folder("/nowhere", errno: 2)) { try spool.add(Self.fact("s", .record, 1)) }
    }
}
