import Contract
import Testing

@testable import AppStoreSimulator

struct RegistrationTests {
    @Test("The status follows from the dates")
    func status() {
        var refunded = SimulatedPurchase.month("3", original: "3", endsInDays: 1)
        refunded.cancelledAt = now
        let running = SimulatedPurchase.month("1", original: "1", endsInDays: 1)
        let over = SimulatedPurchase.month("2", original: "2", endsInDays: 0)
        #expect(Registration(.sample(running)).status(now: now) == .active)
        #expect(Registration(.sample(over)).status(now: now) == .expired)
        #expect(Registration(.sample(refunded)).status(now: now) == .revoked)
        #expect(Registration(.sample(over), status: .billingRetry).status(now: now) == .billingRetry)
    }

    @Test("A renewal says whether the subscription goes on")
    func renewals() throws {
        let running = try renewal(.month("1", original: "1", endsInDays: 1))
        #expect(running["autoRenewStatus"] as? Int == 1)
        #expect(running["renewalDate"] as? Int64 == now.milliseconds + day)
        #expect(running["expirationIntent"] == nil)
        let over = try renewal(.month("1", original: "1", endsInDays: 0))
        #expect(over["autoRenewStatus"] as? Int == 0)
        #expect(over["expirationIntent"] as? Int == 1)
        let grace = try renewal(.month("1", original: "1", endsInDays: 0), .gracePeriod)
        #expect(grace["isInBillingRetryPeriod"] as? Bool == true)
        #expect(grace["gracePeriodExpiresDate"] as? Int64 == now.milliseconds + day)
        #expect(grace["expirationIntent"] as? Int == 2)
    }

    private func renewal(
        _ purchase: SimulatedPurchase, _ status: Registration.SubscriptionStatus? = nil
    ) throws -> [String: Any] {
        try members(Array(Registration(.sample(purchase), status: status).renewalPayload(now: now).text.utf8))
    }
}
