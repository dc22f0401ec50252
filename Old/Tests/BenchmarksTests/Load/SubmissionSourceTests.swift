import AppStoreSimulator
import Foundation
import Kafka
import Testing

@testable import grantor_bench

@Suite("Submissions of a benchmark")
struct SubmissionSourceTests {
    private static func source(
        _ evidence: BenchCase.Evidence, first: Int = 0, isScattered: Bool = false
    ) throws -> SubmissionSource {
        try SubmissionSource(
            BenchCase(evidence: evidence, receiptBytes: 2000), authority: SimulatorAuthority(now: Date()), first: first,
            isScattered: isScattered)
    }

    private static func members(_ value: [UInt8]?) throws -> [String: String] {
        try #require(try JSONSerialization.jsonObject(with: Data(value ?? [])) as? [String: String])
    }

    @Test("Each is JSON with an id and a purchase of its own", arguments: BenchCase.Evidence.allCases)
    func distinct(evidence: BenchCase.Evidence) throws {
        let members = try Self.source(evidence).records(0..<50).map { try Self.members($0.value) }
        let claim = evidence == .receipt ? "receipt" : "signedTransaction"
        #expect(Set(members.compactMap { $0["submissionId"] }).count == 50)
        #expect(Set(members.compactMap { $0[claim] }).count == 50)
    }

    @Test("A receipt carries the number of its transaction")
    func number() throws {
        let record = try #require(try Self.source(.receipt, first: 100).records(5..<6).first)
        let receipt = try #require(try Self.members(record.value)["receipt"])
        let body = #"{"receipt-data":"\#(receipt)","exclude-old-transactions":false}"#
        #expect(ReceiptNumber.read(fromBody: Array(body.utf8)) == Array("2000000000000105".utf8))
    }

    @Test("An event's key leads back to its submission", arguments: [false, true])
    func keys(isScattered: Bool) throws {
        let source = try Self.source(.receipt, first: 1000, isScattered: isScattered)
        let numbers = try source.records(3..<6).map { source.number(ofKey: $0.key) }
        #expect(numbers == [3, 4, 5])
        #expect(source.number(ofKey: Array("somebody".utf8)) == nil)
        #expect(source.number(ofKey: nil) == nil)
    }

    @Test("What was prepared is what is submitted")
    func prepared() throws {
        var source = try Self.source(.signedTransaction)
        try source.prepare(2)
        let first = try source.records(0..<3)
        let second = try source.records(0..<3)
        #expect(first[..<2] == second[..<2])
        #expect(first[2].key == second[2].key)
    }
}
