import Testing

@testable import Fulfillment

@Suite("Alert throttle")
struct AlertThrottleTests {
    @Test("lets the first of a kind through, then one a minute with the number it stands for")
    func throttle() {
        let throttle = AlertThrottle()
        #expect(throttle.count("a", at: .seconds(0)) == 1)
        #expect(throttle.count("a", at: .seconds(1)) == nil)
        #expect(throttle.count("b", at: .seconds(2)) == 1)
        #expect(throttle.count("a", at: .seconds(59)) == nil)
        #expect(throttle.count("a", at: .seconds(61)) == 3)
        #expect(throttle.count("a", at: .seconds(62)) == nil)
    }

    @Test("keeps a kind quiet for as long as it wants")
    func quieter() {
        let throttle = AlertThrottle()
        #expect(throttle.count("a", at: .seconds(0), every: .seconds(300)) == 1)
        #expect(throttle.count("a", at: .seconds(299), every: .seconds(300)) == nil)
        #expect(throttle.count("a", at: .seconds(300), every: .seconds(300)) == 2)
    }
}
