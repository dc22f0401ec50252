import Purchases
import Testing

@testable import grantor_chaos

@Suite("A worker's log of its partitions")
struct AssignmentLogTests {
    private static func moment(_ text: String) throws -> Int64 {
        try #require(Timestamp(rfc3339: text)).milliseconds
    }

    @Test("Partitions are owned from their assignment until they are revoked")
    func ownership() throws {
        let log = AssignmentLog(
            """
            {"ts":"2026-11-21T12:00:00.000Z","level":"info","label":"l","message":"Starting"}
            {"ts":"2026-11-21T12:00:01.000Z","level":"info","label":"l","message":"Partitions assigned","partitions":"[0, 1, 12]"}
            no json
            {"ts":"2026-11-21T12:00:02.000Z","level":"info","label":"l","message":"Partitions revoked","lost":"false","partitions":"[1, 12]"}
            {"ts":"2026-11-21T12:00:03.000Z","level":"info","label":"l","message":"Partitions assigned","partitions":"[7]"}
            """.split(separator: "\n"))
        #expect(log.partitions(at: try Self.moment("2026-11-21T12:00:00.500Z")) == [])
        #expect(log.partitions(at: try Self.moment("2026-11-21T12:00:01.000Z")) == [0, 1, 12])
        #expect(log.partitions(at: try Self.moment("2026-11-21T12:00:02.500Z")) == [0])
        #expect(log.partitions(at: .max) == [0, 7])
    }
}
