import Scheduling
import Testing

@testable import Kafka

struct ReachabilityTests {
    @Test("An outage is news once, and so is its end, with its length")
    func outage() {
        let start = Instant(nanoseconds: 0)
        var reachability = Reachability()
        #expect(reachability.regained(at: start) == nil)
        #expect(reachability.lost(at: start) == true)
        #expect(reachability.lost(at: start + .seconds(3)) == false)
        #expect(reachability.regained(at: start + .seconds(10)) == .seconds(10))
        #expect(reachability.regained(at: start + .seconds(11)) == nil)
        #expect(reachability.lost(at: start + .seconds(12)) == true)
    }
}
