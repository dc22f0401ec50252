import Purchases
import Testing

@testable import AppStore

@Suite("Subscription statuses")
struct SubscriptionStatusesAnswerTests {
    @Test("are read by group, each with both signed texts")
    func groups() throws {
        let json = #"""
            {"environment":"Sandbox","bundleId":"com.example.game","data":[{"subscriptionGroupIdentifier":"77",
            "lastTransactions":[{"originalTransactionId":"1","status":1,"signedTransactionInfo":"a.b.c",
            "signedRenewalInfo":"d.e.f"},{"originalTransactionId":2,"status":"5"}]},{}]}
            """#
        let answer = try #require(SubscriptionStatusesAnswer(json: Array(json.utf8)))
        #expect(answer.environment == "Sandbox")
        #expect(answer.bundleID == "com.example.game")
        #expect(answer.groups.map(\.subscriptionGroupIdentifier) == ["77", nil])
        let subscriptions = answer.groups.flatMap(\.lastTransactions)
        #expect(subscriptions.map(\.status) == [.active, .revoked])
        #expect(subscriptions.map(\.originalTransactionID) == ["1", "2"])
        #expect(subscriptions.map(\.signedTransactionInfo) == ["a.b.c", nil])
        #expect(subscriptions.map(\.signedRenewalInfo) == ["d.e.f", nil])
    }

    @Test("Apple's five are known, and a sixth is no reason to fail")
    func statuses() throws {
        #expect(SubscriptionStatusesAnswer.Status.allCases.map(\.rawValue) == [1, 2, 3, 4, 5])
        let json = #"{"data":[{"lastTransactions":[{"originalTransactionId":"1","status":6}]}]}"#
        let answer = try #require(SubscriptionStatusesAnswer(json: Array(json.utf8)))
        #expect(answer.groups[0].lastTransactions[0].status == nil)
    }

    @Test("have a size, and a form")
    func limits() {
        func answer(_ count: Int) -> SubscriptionStatusesAnswer? {
            let items = Array(repeating: "{}", count: count).joined(separator: ",")
            return SubscriptionStatusesAnswer(json: Array(#"{"data":[{"lastTransactions":[\#(items)]}]}"#.utf8))
        }
        #expect(answer(SubscriptionStatusesAnswer.maxSubscriptions) != nil)
        #expect(answer(SubscriptionStatusesAnswer.maxSubscriptions + 1) == nil)
        for body in ["", "{}", "[]", "<html>", #"{"data":{}}"#, #"{"data":[{"lastTransactions":[1]}]}"#] {
            #expect(SubscriptionStatusesAnswer(json: Array(body.utf8)) == nil)
        }
    }
}
