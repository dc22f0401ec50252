import Testing

@testable import AppStoreSimulator

struct ServerAPICallTests {
    @Test(
        "The path names endpoint and id",
        arguments: [
            ("/inApps/v1/transactions/7", ServerAPICall.Endpoint.transaction),
            ("/inApps/v2/history/7", .history), ("/inApps/v1/subscriptions/7", .subscriptions),
        ])
    func paths(path: String, endpoint: ServerAPICall.Endpoint) throws {
        let call = try #require(ServerAPICall(path: path))
        #expect(call.endpoint == endpoint)
        #expect(call.id == "7")
        #expect(call.isWellFormed)
    }

    @Test(
        "Other paths are none",
        arguments: [
            "/inApps/v1/transactions/", "/inApps/v1/transactions/../7", "/inApps/v1/history/7",
            "/inApps/v1/transactions",
            "/inApps/v1/transactions/7/finish", "/verifyReceipt", "",
        ])
    func otherPaths(path: String) {
        #expect(ServerAPICall(path: path) == nil)
    }

    @Test("An id has up to twenty digits", arguments: ["a", "-1", "1.0", "%37", "７", "123456789012345678901"])
    func ids(id: String) throws {
        #expect(try !#require(ServerAPICall(path: "/inApps/v1/transactions/\(id)")).isWellFormed)
        #expect(try #require(ServerAPICall(path: "/inApps/v1/transactions/12345678901234567890")).isWellFormed)
    }
}
