import Contract
import Testing

@Suite("Pending event")
struct PendingEventTests {
    private func pending(
        state: PendingSubmission.State = .retrying, cause: String = "no_answer", attempts: Int = 3,
        at: Timestamp = Fixture.moment, nextTryAt: Timestamp = Fixture.moment.advanced(by: .seconds(60))
    ) -> PendingSubmission {
        PendingSubmission(
            claimant: Fixture.claimant, state: state, cause: cause, attempts: attempts,
            receivedAt: Fixture.moment.advanced(by: .seconds(-5)), at: at, nextTryAt: nextTryAt)
    }

    @Test("has the same bytes on every machine and in every version")
    func bytes() {
        let event = PendingEvent.event(of: pending())
        #expect(event.id == "72430075-ec56-5486-8c83-bc95d6446d92")
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
        let all = [
            pending(), pending(state: .held), pending(cause: "unreachable"), pending(attempts: 4), pending(at: later),
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
