import Contract
import MemberTesting
import Testing

@testable import Ledger

@Suite("The rows of a user who is to be erased")
struct FoundErasureTests {
    @Test("A worker that owes an event and passes its record between two looks is in the way")
    func owedMeanwhile() throws {
        let grant = FullSamples.grants[0]
        let pseudonyms = try #require(Pseudonyms(key: Array(repeating: 7, count: Pseudonyms.leastKeyBytes)))
        var isOwed = false
        func owed() -> [OutboxRow] {
            defer { isOwed = true }
            let key = OutboxKey.granted(grant.reference, repeatOf: nil)
            let row = OutboxRow(
                key: key, step: .publish, target: key.target, dueAt: grant.grantedAt, owedSince: grant.grantedAt,
                isLeased: false, attempts: 0)
            return isOwed ? [row] : []
        }
        func partitions() -> [PartitionRow] {
            defer { isOwed = true }
            return [
                PartitionRow(
                    partition: grant.origin.topicPartition, next: grant.origin.offset + (isOwed ? 1 : 0),
                    owner: "worker", starts: 1)
            ]
        }
        let found = FoundErasure(
            Erasure(userID: grant.userID, bundleID: nil, pseudonyms: pseudonyms),
            page: { _ in [GrantRow(sequence: 1, grant: grant)] }, count: { 1 }, list: { _ in [] },
            owed: { _ in owed() }, partitions: partitions, actions: { _ in 0 })
        #expect(found.result == .inTheWay(waiting: 0, owed: 1, unpassed: 1))
    }
}
