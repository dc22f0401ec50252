import AppStoreSimulator
import Purchases
import Testing

@testable import Kafka
@testable import Ledger
@testable import grantor_chaos

@Suite("Judge")
struct JudgeTests {
    /// Claims of every kind, with repeats and rivals among them.
    static let claims: [Claim] = {
        var plan = ClaimPlan(seed: 5, now: HonestRun.now)
        return (0..<500).map { _ in plan.next() }
    }()

    private let honest = HonestRun(Self.claims)

    /// The first claim of a kind that got what it asked for.
    private func place(of kind: Claim.Kind) throws -> (claim: Claim, row: Int) {
        let claim = try #require(Self.claims.first { $0.kind == kind })
        let row = try #require(honest.ledger.submissions.firstIndex { $0.claimant.submissionID == claim.submissionID })
        return (claim, row)
    }

    @Test("A right run is right, whoever of two rivals came first")
    func nothingWrong() {
        #expect(honest.violations == [])
        #expect(HonestRun(Self.claims.reversed()).violations == [])
    }

    @Test("A lost submission is noticed")
    func lostSubmission() throws {
        var run = honest
        run.ledger.submissions.remove(at: try place(of: .signedTransaction).row)
        #expect(run.broken == [.answered])
    }

    @Test("A purchase that was never granted is noticed")
    func lostGrant() throws {
        var run = honest
        let (claim, row) = try place(of: .transactionID)
        let grant = try #require(
            run.ledger.grants.firstIndex { $0.granted.purchase.transactionID == claim.transactions[0] })
        run.ledger.grants.remove(at: grant)
        run.ledger.submissions.remove(at: row)
        #expect(run.broken.isSuperset(of: [.answered, .granted]))
    }

    @Test("A purchase that is granted twice is noticed")
    func grantedTwice() throws {
        var run = honest
        let (claim, row) = try place(of: .receipt)
        _ = run.grant(claim.bought[0], to: run.ledger.submissions[row].claimant, key: "another key")
        #expect(run.broken == [.granted])
    }

    @Test("A grant of what nobody may have is noticed: forged, refunded, not sold")
    func undeserved() throws {
        for kind in [Claim.Kind.forged, .revoked, .unknownProduct] {
            var run = honest
            let (claim, row) = try place(of: kind)
            _ = run.grant(claim.bought[0], to: run.ledger.submissions[row].claimant)
            #expect(run.broken == [.nothingElse], "\(kind.rawValue)")
        }
    }

    @Test("A grant to somebody who did not claim it, or of another quantity, is noticed")
    func alteredGrant() throws {
        let (claim, _) = try place(of: .receipt)
        var stolen = honest
        let index = try #require(
            stolen.ledger.grants.firstIndex { $0.granted.purchase.transactionID == claim.transactions[0] })
        let row = stolen.ledger.grants[index]
        let thief = Claimant(submissionID: "chaos-x", userID: "thief", bundleID: Catalogue.bundleID)
        stolen.ledger.grants[index] = GrantRow(
            sequence: row.sequence, grantID: row.grantID, key: row.key, claimant: thief, granted: row.granted,
            verifiedBy: row.verifiedBy, grantedAt: row.grantedAt, eventID: row.eventID)
        #expect(stolen.broken.contains(.granted))

        var generous = honest
        generous.ledger.grants[index] = GrantRow(
            sequence: row.sequence, grantID: row.grantID, key: row.key, claimant: row.claimant,
            granted: GrantablePurchase(
                purchase: row.granted.purchase, type: row.granted.type, items: [Item(item: "gems", quantity: 1)]),
            verifiedBy: row.verifiedBy, grantedAt: row.grantedAt, eventID: row.eventID)
        #expect(generous.broken == [.granted])
    }

    @Test("A submission with a granted and a failed event is noticed")
    func bothKinds() throws {
        var run = honest
        let row = run.ledger.submissions[try place(of: .receipt).row]
        run.ledger.submissions.removeAll { $0.claimant.submissionID == row.claimant.submissionID }
        run.fail(row.claimant, .unknownProduct, row.origin)
        #expect(run.broken.contains(.answered))
    }

    @Test("A refusal that is tried again instead, and a parked submission that nobody brings back, are noticed")
    func neverAnswered() throws {
        for kind in [Claim.Kind.forged, .parkedReceipt] {
            var run = honest
            let row = run.ledger.submissions.remove(at: try place(of: kind).row)
            run.row(row.claimant, .parked, RetryCause.noAnswer.rawValue, row.origin, [])
            #expect(run.broken == [.answered], "\(kind.rawValue)")
        }
    }

    @Test("A wrong reason is noticed")
    func wrongReason() throws {
        var run = honest
        let row = run.ledger.submissions.remove(at: try place(of: .revoked).row)
        run.row(row.claimant, .failed, FailureReason.unknownApp.rawValue, row.origin, row.eventIDs)
        #expect(run.broken == [.answered])
    }

    @Test("An event that is in the ledger and on no topic is noticed, and one that is on a topic only")
    func unpublished() {
        var silent = honest
        silent.records.removeLast()
        #expect(silent.broken.contains(.published))

        var loud = honest
        loud.ledger.events.removeLast()
        #expect(loud.broken == [.published])
    }

    @Test("An event on the wrong topic is noticed")
    func wrongTopic() throws {
        var run = honest
        let event = try #require(run.ledger.events.first { $0.event.kind == .granted }).event
        run.records.removeAll { $0.headers == event.headers.map { KafkaHeader(name: $0.name, value: $0.value) } }
        run.publish(
            Event(id: event.id, kind: .failed, key: event.key, headers: event.headers, value: event.value))
        #expect(run.broken.contains(.published))
    }

    @Test("A copy with one other byte is noticed, in value, key or headers")
    func differentCopies() throws {
        let event = try #require(honest.ledger.events.first { $0.event.kind == .granted }).event
        let copies = [
            Event(id: event.id, kind: .granted, key: event.key, headers: event.headers, value: [1]),
            Event(id: event.id, kind: .granted, key: [1], headers: event.headers, value: event.value),
            Event(
                id: event.id, kind: .granted, key: event.key, headers: event.headers + [EventHeader("more", "x")],
                value: event.value),
        ]
        for copy in copies {
            var run = honest
            run.publish(copy)
            #expect(run.broken == [.identical])
        }
    }

    @Test("A grant that its inventory service was not told of is noticed, or in other words, or too late")
    func untold() throws {
        let id = try #require(honest.told.firstYes.keys.min())
        let yes = try #require(honest.told.firstYes[id])
        let breaks: [(inout ToldGrants) -> Void] = [
            { $0.firstYes[id] = nil }, { $0.bodies[id] = [[1]] }, { $0.bodies[id]?.insert([1]) },
            { $0.firstYes[id] = yes + 1 },
        ]
        for breaking in breaks {
            var run = honest
            breaking(&run.told)
            #expect(run.broken == [.told])
        }
    }

    @Test("An inventory service that is told of what is not its app's grant, or by nobody it knows, is noticed")
    func toldTooMuch() throws {
        let other = try #require(honest.ledger.grants.first { $0.claimant.bundleID == Catalogue.bundleID })
        let event = try #require(honest.ledger.events.first { $0.event.id == other.eventID }).event
        var run = honest
        run.tell(other.grantID, event)
        #expect(run.broken == [.told])
        run = honest
        run.told.unsigned = 1
        #expect(run.broken == [.told])
    }

    @Test("A copy that is the same is none the worse")
    func sameCopies() {
        var run = honest
        for event in run.ledger.events.prefix(50) { run.publish(event.event) }
        #expect(run.violations == [])
    }

    @Test("An unreadable record that is not in quarantine, or not as it came, is noticed")
    func quarantine() throws {
        let record = try #require(honest.submitted.first { $0.claim.kind == .garbage })
        let origin = Origin(topic: Topic.submitted, partition: record.partition, offset: record.offset)
        var run = honest
        let isIts = { (header: KafkaHeader) in
            header.name == "x-origin-offset" && header.value == Array(String(origin.offset).utf8)
        }
        run.records.removeAll { $0.headers.contains(where: isIts) }
        #expect(run.broken == [.quarantined, .published])
        run.quarantine(ClaimWriter.Message(key: record.message.key, value: [0]), origin)
        #expect(run.broken.contains(.quarantined))
    }
}
