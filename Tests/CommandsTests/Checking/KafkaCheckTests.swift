import CommandParser
import Contract
import Foundation
import Ledger
import Testing

@testable import Commands
@testable import Kafka

@Suite("Checking brokers, rights and topics")
struct KafkaCheckTests {
    private var grantor: SampleRun

    init() throws { grantor = try SampleRun.complete() }

    @Test(
        "Each right that the user lacks is named, with what to give",
        arguments: [
            (
                "group grantor",
                "group grantor                    FAILED  not usable; this user may not read it; give it Read on the group"
            ),
            (
                "receipts.submitted",
                "topic receipts.submitted         FAILED  12 partitions, 3 replicas; this user may not read it; give it Read on"
            ),
            (
                "purchases.granted",
                "topic purchases.granted          FAILED  12 partitions, 3 replicas; this user may not write into it; give it"
            ),
            (
                "receipts.quarantined",
                "topic receipts.quarantined       FAILED  12 partitions, 3 replicas; this user may not write into it; give it"
            ),
            (
                "cluster",
                "broker                           FAILED  3 reachable; this user may not write idempotently; give it"
            ),
        ])
    func right(name: String, line: String) {
        var grantor = grantor
        grantor.cluster.rights[name] = .missing
        let result = grantor("check")
        #expect(result.status == .failed)
        #expect(result.output.contains("\n\(line)"))
        #expect(result.output.hasSuffix("\n9 checks: 8 ok, 1 FAILED\n"))
    }

    @Test("A right that nobody told of is not taken for given")
    func untoldRight() {
        var grantor = grantor
        grantor.cluster.rights = [
            "purchases.failed": .untold(FixedCluster.away), "receipts.submitted": .untold(.unasked),
        ]
        let output = grantor("check").output
        for line in [
            "topic purchases.failed           warning  12 partitions, 3 replicas; not checked whether it may write into it: _TRANSPORT: Connection refused",
            "topic receipts.submitted         warning  12 partitions, 3 replicas; not checked whether it may read it\n",
        ] {
            #expect(output.contains("\n\(line)"))
        }
    }

    @Test("A topic that the user may not see is not called missing")
    func hiddenTopic() {
        var grantor = grantor
        grantor.cluster.topics["purchases.failed"] = .missing
        let denied = KafkaFailure(
            code: 29, name: "TOPIC_AUTHORIZATION_FAILED", text: "Broker: Topic authorization failed")
        grantor.cluster.hidden["purchases.failed"] = .failed(.denied(denied))
        #expect(
            grantor("check").output.contains(
                "topic purchases.failed           FAILED  this user may not see it, or it is missing; give it Write on")
        )
    }

    @Test("A broker that is not where it says is told with the address, and nothing is asked beyond it")
    func advertised() {
        var grantor = grantor
        grantor.cluster.unreachable = .transient(
            KafkaFailure(code: -195, name: "_TRANSPORT", text: "failure: inner:9092/1: Failed to resolve 'inner:9092'"))
        let result = grantor("check")
        #expect(result.status == .failed)
        #expect(
            result.output.contains(
                "FAILED  3 known; one cannot be reached at the address that it advertises: _TRANSPORT: failure: inner:9092/1: "
                    + "Failed to resolve 'inner:9092'; correct the name, or the name servers of this host\n"))
        #expect(!result.output.contains("topic receipts.submitted"))
    }

    @Test("An answer that the broker still owes is said, and not taken for an empty one")
    func untold() {
        var grantor = grantor
        grantor.cluster.laterFailure = FixedCluster.notCoordinator
        let result = grantor("check")
        #expect(result.status == .done)
        for line in [
            "topic purchases.failed           warning  12 partitions, 3 replicas; its properties are not told: NOT_COORDINATOR: Broker: Not coordinator",
            "ledger                           warning  \(FixedLedger.id), 0 owed; the group's offsets are not told: NOT_COORDINATOR: Broker: Not coordinator",
        ] {
            #expect(result.output.contains("\n\(line)\n"))
        }
    }

    @Test("A broker that is away is told with why, and its topics not at all")
    func brokerAway() {
        var grantor = grantor
        grantor.cluster.failure = FixedCluster.away
        let output = grantor("check").output
        #expect(
            output.contains(
                "broker                           FAILED  kafka:9092 does not answer: _TRANSPORT: Connection refused; nobody "
                    + "listens there: correct the port, or start the broker\n")
        )
        #expect(!output.contains("topic receipts.submitted"))
    }
}
