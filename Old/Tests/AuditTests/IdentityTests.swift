import Purchases
import Testing

@testable import Audit

@Suite("An identity")
struct IdentityTests {
    @Test("of an event is its id")
    func event() {
        let id = "adb4e0eb-a8cd-5c61-80f8-c68edac05978"
        #expect(Identity(EventID(id)).description == id)
        #expect(Identity(EventID("00000000-0000-0000-0000-000000000001")).description.hasSuffix("-000000000001"))
    }

    @Test("of an id that is no event's differs from all events'")
    func foreign() {
        #expect(Identity(EventID("one")) != Identity(EventID("two")))
        #expect(Identity(EventID("one")) == Identity(EventID("one")))
    }

    @Test("tells parts apart that run into each other, and absent ones from empty ones")
    func parts() {
        #expect(Identity(parts: [[1], [2]]) != Identity(parts: [[1, 2], []]))
        #expect(Identity(parts: [nil]) != Identity(parts: [[]]))
        let header = EventHeader(name: "a", value: [1])
        #expect(
            Identity(key: nil, value: [1], headers: [header])
                != Identity(key: [1], value: nil, headers: [header]))
        #expect(
            Identity(key: nil, value: nil, headers: [header])
                != Identity(key: nil, value: nil, headers: [EventHeader(name: "a", value: nil)]))
    }
}
