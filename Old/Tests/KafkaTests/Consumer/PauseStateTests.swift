import Testing

@testable import Kafka

struct PauseStateTests {
    private let a = KafkaPartition(topic: "t", index: 0)
    private let b = KafkaPartition(topic: "t", index: 1)

    @Test("Only what is paused is resumed, and only once")
    func once() {
        var state = PauseState()
        #expect(state.resume([a], assigned: [a, b]) == .init())
        #expect(state.pause([a], assigned: [a, b]) == .init(pause: [a]))
        #expect(state.pause([a], assigned: [a, b]) == .init())
        #expect(state.resume([a, b], assigned: [a, b]) == .init(resume: [a]))
        #expect(state.resume([a], assigned: [a, b]) == .init())
    }

    @Test("A partition that is away is paused when it comes")
    func pausedWhileAway() {
        var state = PauseState()
        #expect(state.pause([a], assigned: [b]) == .init())
        #expect(state.assigned([a]) == .init(pause: [a]))
    }

    @Test("A pause is made anew with each assignment")
    func pausedAgain() {
        var state = PauseState()
        _ = state.pause([a], assigned: [a])
        #expect(state.assigned([a, b]) == .init(pause: [a]))
    }

    @Test("A partition resumed while it was away is resumed when it comes back, because librdkafka kept its mark")
    func resumedWhileAway() {
        var state = PauseState()
        _ = state.pause([a], assigned: [a])
        #expect(state.resume([a], assigned: []) == .init())
        #expect(state.assigned([a]) == .init(resume: [a]))
    }

    @Test("A pause of everything holds for what comes later, and for what goes and comes back")
    func everything() {
        var state = PauseState()
        #expect(state.pauseAll(assigned: [a]) == .init(pause: [a]))
        #expect(state.assigned([b]) == .init(pause: [b]))
        #expect(state.assigned([a, b]) == .init(pause: [a, b]))
        #expect(state.resumeAll(assigned: [a]) == .init(resume: [a]))
        #expect(state.assigned([a, b]) == .init(resume: [b]))
    }

    @Test("What is paused by name stays so when everything is resumed")
    func byNameBeside() {
        var state = PauseState()
        _ = state.pause([a], assigned: [a, b])
        #expect(state.pauseAll(assigned: [a, b]) == .init(pause: [b]))
        #expect(state.resume([b], assigned: [a, b]) == .init())
        #expect(state.resumeAll(assigned: [a, b]) == .init(resume: [b]))
        #expect(state.resume([a], assigned: [a, b]) == .init(resume: [a]))
    }
}
