import Contract
import Cryptography
import Testing

@Suite("Failed event")
struct FailedEventTests {
    private static let digest = ClaimDigest(of: Fixture.submission())

    private func failure(
        _ rejection: Rejection, claimant: Claimant = Fixture.claimant, failedAt: Timestamp = Fixture.moment,
        attempts: Int = 2, digest: ClaimDigest = digest, origin: Origin = Fixture.origin
    ) -> Failure {
        Failure(of: claimant, rejection, failedAt: failedAt, attempts: attempts, digest: digest, origin: origin)
    }

    private func event(_ rejection: Rejection) -> Event { FailedEvent.event(of: failure(rejection)) }

    @Test("has the same bytes on every machine and in every version, with slashes and quotes as JSON has them")
    func bytes() {
        let rejection = Rejection(.productMismatch, #"a/b "c""#, transactionID: "1", productID: "gems")
        let id = FailedEvent.id(bundleID: "com.example.game", submissionID: "order-1:1").rawValue
        let expected = """
            {"attempts":2,"bundleId":"com.example.game","detail":"a/b \\"c\\"","eventId":"\(id)",\
            "failedAt":"2026-11-21T04:59:13.250Z","orderId":"order-1","productId":"gems","reason":"product_mismatch",\
            "submissionId":"order-1:1","transactionId":"1","userId":"player-1"}
            """
        #expect(Fixture.text(event(rejection)) == expected)
    }

    @Test("leaves out the purchase where none is known")
    func optionalMembers() throws {
        let names = Set(try Fixture.members(of: event(Rejection(.accountGone, "x"))).keys)
        #expect(
            names == [
                "attempts", "bundleId", "detail", "eventId", "failedAt", "orderId", "reason", "submissionId", "userId",
            ])
    }

    @Test("has one id per app and submission, whatever the failure")
    func id() {
        #expect(
            FailedEvent.id(bundleID: "com.example.game", submissionID: "order-10010:1")
                == "c2b17426-9108-5d5d-abda-cc4018ff9414")
        #expect(event(Rejection(.accountGone, "x")).id == event(Rejection(.productMismatch, "y")).id)
        #expect(
            FailedEvent.id(bundleID: "a:b", submissionID: "c") != FailedEvent.id(bundleID: "a", submissionID: "b:c"))
    }

    @Test("has the submission as subject and the user as key")
    func headers() throws {
        let event = event(Rejection(.accountGone, "x"))
        let headers = try Fixture.headers(of: event)
        #expect(event.topic == .failed)
        #expect(event.key == Array("player-1".utf8))
        #expect(headers["ce_subject"] == "order-1:1")
        #expect(headers["ce_type"] == "com.grantor.purchase.failed.v1")
    }

    @Test("repeats the reason of a row that a later version wrote")
    func laterReason() throws {
        let later = Failure(
            claimant: Fixture.claimant, reason: "of_a_later_version", detail: "x", transactionID: nil, productID: nil,
            failedAt: Fixture.moment, attempts: 1, digest: Self.digest, origin: Fixture.origin, format: .v1)
        #expect(try Fixture.members(of: FailedEvent.event(of: later))["reason"] as? String == "of_a_later_version")
    }
}
