import Contract
import Testing

@Suite("Failed event")
struct FailedEventTests {
    private func event(_ rejection: Rejection) -> Event {
        FailedEvent.event(of: EventFixture.claimant, rejection: rejection, failedAt: EventFixture.moment, attempts: 2)
    }

    @Test("is the same bytes on every machine and every time, with slashes and quotes as JSON has them")
    func bytes() {
        let rejection = Rejection(.productMismatch, #"a/b "c""#, transactionID: "1", productID: "gems")
        let id = FailedEvent.id(bundleID: "com.example.game", submissionID: "order-1:1").rawValue
        let expected = """
            {"attempts":2,"bundleId":"com.example.game","detail":"a/b \\"c\\"","eventId":"\(id)",\
            "failedAt":"2026-11-21T04:59:13.250Z","orderId":"order-1","productId":"gems","reason":"product_mismatch",\
            "submissionId":"order-1:1","transactionId":"1","userId":"player-1"}
            """
        #expect(EventFixture.text(event(rejection)) == expected)
    }

    @Test("leaves out the purchase where none is known")
    func optionalMembers() throws {
        let names = Set(try EventFixture.members(of: event(Rejection(.accountGone, "x"))).keys)
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
        let headers = try EventFixture.headers(of: event)
        #expect(event.kind == .failed)
        #expect(event.key == Array("player-1".utf8))
        #expect(headers["ce_subject"] == "order-1:1")
        #expect(headers["ce_type"] == "com.grantor.purchase.failed.v1")
    }

    @Test("names every reason as the contract does")
    func reasons() {
        #expect(FailureReason.allCases.count == 19)
        #expect(
            FailureReason.allCases.allSatisfy { reason in
                reason.rawValue.utf8.allSatisfy {
                    $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                }
            })
    }
}
