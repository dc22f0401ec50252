import Testing

@testable import Kafka

struct DepartureTests {
    private let start = ContinuousClock.now

    private func departure(isJoining: Bool, limit: Duration = .seconds(20)) -> Departure {
        Departure(isJoining: isJoining, deadline: start + limit, now: start)
    }

    private func next(
        _ departure: inout Departure, after time: Duration, isMember: Bool = false, hasLeft: Bool = false
    ) -> Departure.Step {
        departure.next(isMember: isMember, hasLeft: hasLeft, now: start + time)
    }

    @Test("A member leaves at once and goes when it has left")
    func member() {
        var departure = departure(isJoining: false)
        let steps = [
            next(&departure, after: .zero, isMember: true), next(&departure, after: .seconds(1)),
            next(&departure, after: .seconds(2), hasLeft: true), next(&departure, after: .seconds(3)),
        ]
        #expect(steps == [.leave, .wait, .end, .end])
    }

    @Test("A group that lets nobody in is waited for no longer than groups take, however much time there is")
    func neverLetIn() {
        var departure = Departure(isJoining: true, deadline: start + .seconds(600), now: start)
        let steps = [
            next(&departure, after: Departure.joinLimit - .milliseconds(1)),
            next(&departure, after: Departure.joinLimit),
            next(&departure, after: Departure.joinLimit + Departure.leaveLimit),
        ]
        #expect(steps == [.wait, .leave, .end])
    }

    @Test("Who is joining is let in first, and then leaves")
    func joining() {
        var departure = departure(isJoining: true)
        #expect(departure.isJoining)
        let steps = [
            next(&departure, after: .zero), next(&departure, after: .seconds(12)),
            next(&departure, after: .seconds(13), isMember: true),
            next(&departure, after: .seconds(13), isMember: true, hasLeft: true),
        ]
        #expect(steps == [.wait, .wait, .leave, .end])
        #expect(!departure.isJoining)
    }

    @Test("A group that lets nobody in is left just before the deadline")
    func deadline() {
        var departure = departure(isJoining: true, limit: .seconds(10))
        #expect(departure.nextLook == start + .seconds(9))
        let steps = [
            next(&departure, after: .seconds(8)), next(&departure, after: .seconds(9)),
            next(&departure, after: .seconds(9.5)), next(&departure, after: .seconds(10)),
        ]
        #expect(steps == [.wait, .leave, .wait, .end])
        #expect(departure.nextLook == nil)
    }

    @Test("A group that does not answer is not waited for longer than leaving may take")
    func silence() {
        var departure = departure(isJoining: false)
        #expect(next(&departure, after: .zero) == .leave)
        #expect(departure.nextLook == start + Departure.leaveLimit)
        #expect(next(&departure, after: Departure.leaveLimit) == .end)
    }

    @Test("A deadline that is nearly over leaves no time to be let in")
    func shortDeadline() {
        var departure = departure(isJoining: true, limit: .milliseconds(300))
        #expect(next(&departure, after: .zero) == .leave)
        #expect(next(&departure, after: .milliseconds(300)) == .end)
    }

    @Test("Who cannot leave goes at once")
    func cannotLeave() {
        var departure = departure(isJoining: false)
        #expect(next(&departure, after: .zero) == .leave)
        departure.giveUp()
        #expect(next(&departure, after: .zero) == .end)
    }
}
