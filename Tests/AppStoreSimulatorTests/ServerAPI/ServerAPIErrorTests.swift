import Foundation
import HTTPServer
import SimulatorServer
import Testing

@testable import AppStoreSimulator

struct ServerAPIErrorTests {
    @Test(
        "The status is the code's first three digits",
        arguments: [
            (4_000_006, 400, "Invalid transaction id."), (4_040_010, 404, "Transaction id not found."),
            (5_000_001, 500, "An unknown error occurred. Please try again."), (4_290_000, 429, "Rate limit exceeded."),
            (4_099_999, 409, "An unknown error occurred."), (7, 500, "An unknown error occurred."),
        ])
    func statuses(code: Int, status: Int, message: String) throws {
        let reply = ServerAPIError.reply(code: code)
        #expect(reply.status == status)
        #expect(reply.fields.first?.value == "application/json")
        #expect(try members(reply.body)["errorCode"] as? Int == code)
        #expect(try members(reply.body)["errorMessage"] as? String == message)
    }

    @Test("A rate limit says when to come back")
    func rateLimit() {
        let reply = ServerAPIError.rateLimited(retryAfter: "1795237154000")
        #expect(reply.status == 429)
        #expect(reply.fields.last == HeaderField("Retry-After", "1795237154000"))
    }
}
