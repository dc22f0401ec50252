import AppStore
import Fulfillment
import HTTPTransport
import Purchases
import Testing

@testable import Worker

@Suite("What verify shows of Apple's answers")
struct RecordingEndpointTests {
    /// Answers everything alike.
    private struct Apple: AppStoreEndpoint {
        let reply: AppStoreReply

        func verifyReceipt(
            _ environment: Environment, body: RequestBody, isFresh: Bool,
            then: @escaping @Sendable (AppStoreReply) -> Void
        ) {
            then(reply)
        }

        func serverAPI(
            _ environment: Environment, _ request: ServerAPIRequest, bearer token: BearerToken, isFresh: Bool
        ) async -> AppStoreReply {
            reply
        }
    }

    private static func response(_ status: Int, _ body: String) -> AppStoreReply {
        .response(httpStatus: status, retryAfter: nil, body: Array(body.utf8))
    }

    @Test(
        "The status, and what the body is if it is no JSON, but nothing of the body",
        arguments: [
            (response(200, #"{"status":0}"#), "HTTP 200"),
            (response(200, "\n {}"), "HTTP 200"),
            (response(200, ""), "HTTP 200, an empty body"),
            (response(302, "\r\n"), "HTTP 302, an empty body"),
            (response(403, "<html>secret</html>"), "HTTP 403, a body of HTML or XML"),
            (response(401, "Unauthenticated"), "HTTP 401, a body that is no JSON"),
            (.failed(.timedOut), "timedOut"),
        ])
    func answer(reply: AppStoreReply, expected: String) {
        let endpoint = RecordingEndpoint(Apple(reply: reply))
        endpoint.verifyReceipt(.sandbox, body: RequestBody([[]]), isFresh: false) { _ in }
        #expect(endpoint.calls.map(\.answer) == [expected])
    }
}
