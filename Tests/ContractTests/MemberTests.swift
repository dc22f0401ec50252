import Contract
import MemberTesting
import Testing

/// Members are found by reflection, so a new one cannot be forgotten here.
@Suite("No member is forgotten")
struct MemberTests {
    @Test("in a sample")
    func samples() {
        let full: [Any] = [
            FullSamples.submissions[0], FullSamples.purchase(), FullSamples.grants[0], FullSamples.failures[0],
            FullSamples.rejection,
        ]
        for sample in full { #expect(Members.silent(in: sample) == []) }
    }

    /// Names members whose change alone makes no other value.
    private func equal<Value: Mixing & Hashable>(_ values: [Value]) -> Set<String> {
        let names = Set(Members.named(values[0]).keys)
        return names.filter { name in
            let mixed = values[0].taking(name, of: values[1])
            let changed = Members.differing(mixed, values[0]).map { String($0.prefix { $0 != "." }) }
            #expect(Set(changed) == (name == "format" ? [] : [name]), "the mixture takes \(name)")
            #expect(values[0].taking(name, of: values[0]).hashValue == values[0].hashValue, "\(name)")
            return mixed == values[0]
        }
    }

    @Test("in a comparison")
    func comparisons() {
        // There is one format.
        #expect(equal(FullSamples.grants) == ["format"])
        #expect(equal(FullSamples.failures) == ["format"])
        #expect(equal(FullSamples.submissions) == [])
        // No ledger keeps what holds.
        #expect(equal(FullSamples.passedOver) == ["holding"])
    }

    @Test("in a copy")
    func copies() {
        let submission = FullSamples.submissions[0]
        #expect(Members.differing(submission.claiming("3"), submission) == ["claim.transactionID"])
        let moment = Timestamp(milliseconds: 1)
        #expect(Members.differing(submission.received(at: moment), submission) == ["receivedAt"])
    }

    @Test("in a claim's digest, but for those that a producer may send differently")
    func digest() {
        let (submission, other) = (FullSamples.submissions[0], FullSamples.submissions[1])
        let members = [submission, submission.claimant, submission.claim] as [Any]
        let names = Set(members.flatMap { Members.named($0).keys }).subtracting(["claimant", "claim"])
        let same = names.filter { ClaimDigest(of: submission.takingPart($0, of: other)) == ClaimDigest(of: submission) }
        #expect(same == ["environment", "submittedAt", "traceparent", "origin", "receivedAt"])
    }

    @Test("in a granted event, but for those that are the platform's own")
    func grantedEvent() {
        let (grant, other) = (FullSamples.grants[0], FullSamples.grants[1])
        let event = GrantedEvent.event(of: grant)
        let untold = Members.named(grant).keys.filter { GrantedEvent.event(of: grant.taking($0, of: other)) == event }
        #expect(Set(untold) == ["origin", "receivedAt", "attempts", "format", "passedOver"])
        let claimant = Members.named(grant.claimant).keys.filter { name in
            let claimant = grant.claimant.taking(name, of: other.claimant)
            let mixed = grant.taking("claimant", of: granting(claimant))
            return GrantedEvent.event(of: mixed) == event
        }
        #expect(claimant == [])
    }

    /// A grant to this claimant.
    private func granting(_ claimant: Claimant) -> Grant {
        let submission = Submission(
            claimant: claimant, claim: .nothing, evidence: .transactionID("1"), origin: FullSamples.origins[0],
            receivedAt: Timestamp(milliseconds: 0))
        let granted = FullSamples.granted().map {
            Grant(of: $0, to: submission, by: .local, attempts: 1, grantedAt: submission.receivedAt)
        }
        return granted ?? FullSamples.grants[0]
    }

    @Test("in a failed event, but for those that are the platform's own")
    func failedEvent() {
        let (failure, other) = (FullSamples.failures[0], FullSamples.failures[1])
        let event = FailedEvent.event(of: failure)
        let untold = Members.named(failure).keys.filter {
            FailedEvent.event(of: failure.taking($0, of: other)) == event
        }
        #expect(Set(untold) == ["digest", "origin", "format"])
    }

    @Test("in the grant of a purchase, but for those that decide whether it is granted")
    func grantOfPurchase() throws {
        let granted = try #require(FullSamples.granted())
        let submission = FullSamples.submissions[0]
        let grant = Grant(of: granted, to: submission, by: .serverAPI, attempts: 4, grantedAt: submission.receivedAt)
        #expect(Members.silent(in: grant) == [])
        for source in [Members.named(granted.purchase), Members.named(submission), Members.named(granted)] {
            for (name, value) in Members.named(grant) {
                if let before = source[name] { #expect(Members.differing(before, value) == [], "\(name)") }
            }
        }
        let lost = Set(Members.named(granted.purchase).keys).subtracting(Members.named(grant).keys)
        // The first three stand in the key and the product.
        #expect(lost == ["environment", "productID", "type", "revokedAt", "isUpgraded", "appAccountToken"])
    }

    @Test("in the reading of a submission", arguments: ["receipt", "signedTransaction", "extra"])
    func reading(evidence: String) {
        let text = """
            {"submissionId":"s1","userId":"u1","bundleId":"com.example.game","transactionId":"2002","orderId":"o1",\
            "productId":"p","appAccountToken":"7E3FB20B-4CDB-47CC-936D-99D65F608138","environment":"sandbox",\
            "submittedAt":"2026-11-21T10:00:00Z","\(evidence)":"YQ.Yg.Yw"}
            """
        let record = InputRecord(
            origin: FullSamples.origins[0], key: nil, value: Array(text.utf8),
            headers: [RecordHeader("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")],
            timestamp: Timestamp(milliseconds: 1_795_255_300_000))
        guard case .submission(let read) = SubmissionReading(record, now: Timestamp(milliseconds: 1_795_255_300_000))
        else {
            Issue.record("it is a submission")
            return
        }
        #expect(Members.silent(in: read) == [])
    }
}
