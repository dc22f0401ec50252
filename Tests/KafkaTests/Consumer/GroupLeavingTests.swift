import Scheduling
import Testing

@testable import Kafka

struct GroupLeavingTests {
    private let start = Instant(nanoseconds: 0)

    private func leaving(limit: Duration = .seconds(20)) -> GroupLeaving {
        GroupLeaving(until: start + limit, now: start)
    }

    private func next(
        _ leaving: inout GroupLeaving, after time: Duration, hasCommitted: Bool = true, isJoining: Bool = false,
        hasLeft: Bool = false
    ) -> GroupLeaving.Step {
        leaving.next(hasCommitted: hasCommitted, isJoining: isJoining, hasLeft: hasLeft, now: start + time)
    }

    @Test("A member leaves at once and goes when it has left")
    func member() {
        var leaving = leaving()
        let steps = [
            next(&leaving, after: .zero), next(&leaving, after: .seconds(1)),
            next(&leaving, after: .seconds(2), hasLeft: true), next(&leaving, after: .seconds(3)),
        ]
        #expect(steps == [.leave, .wait, .end, .end])
    }

    @Test("Commits are answered first, for half of the time at most")
    func commits() {
        var answered = leaving()
        #expect(answered.nextLook == start + .seconds(10))
        #expect(next(&answered, after: .zero, hasCommitted: false) == .wait)
        #expect(next(&answered, after: .seconds(1), hasCommitted: true) == .leave)
        var silent = leaving()
        #expect(next(&silent, after: .seconds(9), hasCommitted: false) == .wait)
        #expect(next(&silent, after: .seconds(10), hasCommitted: false) == .leave)
    }

    @Test("A group that lets nobody in is waited for no longer than groups take, however much time there is")
    func neverLetIn() {
        var leaving = leaving(limit: .seconds(600))
        let steps = [
            next(&leaving, after: .zero, isJoining: true),
            next(&leaving, after: GroupLeaving.joinLimit - .milliseconds(1), isJoining: true),
            next(&leaving, after: GroupLeaving.joinLimit, isJoining: true),
            next(&leaving, after: GroupLeaving.joinLimit + GroupLeaving.leaveLimit),
        ]
        #expect(steps == [.wait, .wait, .leave, .end])
    }

    @Test("A member that is joining is let in first, and then leaves")
    func joining() {
        var leaving = leaving()
        let steps = [
            next(&leaving, after: .zero, isJoining: true), next(&leaving, after: .seconds(12), isJoining: true),
            next(&leaving, after: .seconds(13)), next(&leaving, after: .seconds(13), hasLeft: true),
        ]
        #expect(steps == [.wait, .wait, .leave, .end])
    }

    @Test("A group that lets nobody in is left just before the deadline")
    func deadline() {
        var leaving = leaving(limit: .seconds(10))
        #expect(next(&leaving, after: .zero, isJoining: true) == .wait)
        #expect(leaving.nextLook == start + .seconds(9))
        let steps = [
            next(&leaving, after: .seconds(8), isJoining: true), next(&leaving, after: .seconds(9), isJoining: true),
            next(&leaving, after: .seconds(9.5)), next(&leaving, after: .seconds(10)),
        ]
        #expect(steps == [.wait, .leave, .wait, .end])
        #expect(leaving.nextLook == nil)
    }

    @Test("A group that does not answer is not waited for longer than leaving may take")
    func silence() {
        var leaving = leaving()
        #expect(next(&leaving, after: .zero) == .leave)
        #expect(leaving.nextLook == start + GroupLeaving.leaveLimit)
        #expect(next(&leaving, after: GroupLeaving.leaveLimit) == .end)
    }

    @Test("A deadline that is over leaves no time for anything")
    func noTime() {
        var leaving = leaving(limit: .zero)
        #expect(next(&leaving, after: .zero, hasCommitted: false, isJoining: true) == .leave)
        #expect(next(&leaving, after: .zero, isJoining: true) == .end)
    }

    @Test("A member that cannot leave goes at once")
    func cannotLeave() {
        var leaving = leaving()
        #expect(next(&leaving, after: .zero) == .leave)
        leaving.giveUp()
        #expect(next(&leaving, after: .zero) == .end)
    }
}
