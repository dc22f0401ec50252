import Contract
import HTTPServer
import Ledger
import Testing

@testable import Commands

@Suite("Requests to the read-only API")
struct APIRequestTests {
    private func request(_ target: String, method: String = "GET") throws -> APIRequest {
        try APIRequest(APITesting.head(target, method: method))
    }

    private func status(_ target: String, method: String = "GET") throws -> Int? {
        let head = try APITesting.head(target, method: method)
        do {
            _ = try APIRequest(head)
            return nil
        } catch {
            return error.status
        }
    }

    @Test("A submission is named by its app and its id, percent-encoded where they need it")
    func submission() throws {
        let key = SubmissionKey(bundleID: "com.example.game", submissionID: "order-1:2")
        #expect(try request("/v1/submissions/com.example.game/order-1:2") == .submission(key))
        #expect(try request("/v1/submissions/com.example.game/order-1%3a2", method: "HEAD") == .submission(key))
        #expect(
            try request("/v1/submissions/a/%E5%AD%97%2Fx")
                == .submission(SubmissionKey(bundleID: "a", submissionID: "字/x")))
    }

    @Test("A word is looked for with a limit, and a plus sign is a space as in forms")
    func find() throws {
        #expect(try request("/v1/find?word=player-1") == .find(word: "player-1", limit: 50))
        #expect(try request("/v1/find?limit=200&word=a+b%2Bc") == .find(word: "a b+c", limit: 200))
        #expect(try request("/v1/find?word=a=b") == .find(word: "a=b", limit: 50))
    }

    @Test(
        "Every other target is refused",
        arguments: [
            ("/", 404), ("/v1", 404), ("/v1/", 404), ("/v2/find?word=a", 404), ("/v1/submissions", 404),
            ("/v1/submissions/a", 404), ("/v1/submissions/a/b/c", 404), ("/v1/find/", 404), ("/metrics", 404),
            ("/v1/submissions//b", 400), ("/v1/submissions/a/", 400), ("/v1/submissions/a/%", 400),
            ("/v1/submissions/a/%4", 400), ("/v1/submissions/a/%+1", 400), ("/v1/submissions/a/%ff", 400),
            ("/v1/submissions/a/%00", 400), ("/v1/submissions/a/b?x=1", 400), ("/v1/find", 400), ("/v1/find?", 400),
            ("/v1/find?word=", 400), ("/v1/find?word", 400), ("/v1/find?word=a&word=b", 400),
            ("/v1/find?word=a&limit=0", 400), ("/v1/find?word=a&limit=201", 400), ("/v1/find?word=a&limit=+5", 400),
            ("/v1/find?word=a&limit=5&limit=6", 400), ("/v1/find?word=a&user=b", 400), ("/v1/find?word=a%0Ab", 400),
            ("/v1/find?word=\(String(repeating: "x", count: 513))", 400),
        ])
    func refused(target: String, status: Int) throws { #expect(try self.status(target) == status) }

    @Test("Only reading methods are taken", arguments: ["POST", "PUT", "DELETE", "get", "OPTIONS"])
    func methods(method: String) throws {
        #expect(try status("/v1/find?word=a", method: method) == 405)
        #expect(try status("/v1/submissions/a/b", method: method) == 405)
        #expect(try status("/other", method: method) == 404)
    }
}
