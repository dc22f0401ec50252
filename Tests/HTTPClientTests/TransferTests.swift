import Testing

@testable import HTTPClient

/// Which of libcurl's handles are used again. `HTTPClientFailureTests` shows from outside that one that sent something
/// is.
struct TransferPoolTests {
    @Test("One that failed, or never came to send its request, is not used again")
    func unused() throws {
        let call = HTTPCall(token: 1, request: try HTTPRequest(.get, HTTPEndpoint(baseURL: "https://localhost/")))
        var pool = TransferPool(configuration: HTTPClientConfiguration())
        let first = try pool.take(call)
        pool.add(first, endedWell: false)
        pool.add(first, endedWell: true)

        let second = try pool.take(call)
        #expect(second !== first)
    }
}
