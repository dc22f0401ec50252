import Contract
import Testing

@Suite("Pending event")
struct PendingEventTests {
    private func pending(
        state: PendingSubmission.State = .retrying, cause: String = "no_answer", attempts: Int = 3,
        at: Timestamp = Fixture.moment, nextTryAt: Timestamp = Fixture.moment.advanced(by: .seconds(60)),
        claimant: Claimant = Fixture.claimant, receivedAt: Timestamp = Fixture.moment.advanced(by: .seconds(-5))
    ) -> PendingSubmission {
        PendingSubmission(
            claimant: claimant, state: state, cause: cause, attempts: attempts, receivedAt: receivedAt, at: at,
            nextTryAt: nextTryAt)
    }

    @Test("has the same bytes on every machine and in every version")
    func bytes() {
        let event = PendingEvent.event(of: pending())
        #expect(event.id == "804e50e0-b9db-58f6-ac32-1d3dc84993c6")
        let expected = """
            {"attempts":3,"bundleId":"com.example.game","cause":"no_answer","eventId":"\(event.id.rawValue)",\
            "nextTryAt":"2026-11-21T05:00:13.250Z","orderId":"order-1","pendingAt":"2026-11-21T04:59:13.250Z",\
            "receivedAt":"2026-11-21T04:59:08.250Z","state":"retrying","submissionId":"order-1:1","userId":"player-1"}
            """
        #expect(Fixture.text(event) == expected)
    }

    @Test("has another id where it tells something else, so that one id has one content")
    func ids() {
        let later = Fixture.moment.advanced(by: .milliseconds(1))
        func claimant(user: UserID = "player-1", order: OrderID? = "order-1", trace: String? = nil) -> Claimant {
            Claimant(
                submissionID: "order-1:1", userID: user, bundleID: "com.example.game", orderID: order,
                traceparent: trace)
        }
        let all = [
            pending(claimant: claimant()), pending(claimant: claimant(user: "player-2")),
            pending(claimant: claimant(order: nil)), pending(receivedAt: later), pending(), pending(state: .held),
            pending(cause: "unreachable"), pending(attempts: 4), pending(at: later),
            pending(nextTryAt: later),
        ]
        #expect(Set(all.map { PendingEvent.event(of: $0).id }).count == all.count)
    }

    @Test("has the submission as subject, the user as key and the latest attempt as time")
    func headers() throws {
        let event = PendingEvent.event(of: pending())
        let headers = try Fixture.headers(of: event)
        #expect(event.topic == .pending)
        #expect(event.key == Array("player-1".utf8))
        #expect(headers["ce_subject"] == "order-1:1")
        #expect(headers["ce_type"] == "com.grantor.purchase.pending.v1")
        #expect(headers["ce_time"] == "2026-11-21T04:59:13.250Z")
        #expect(headers["traceparent"] == Fixture.claimant.traceparent)
    }
}
