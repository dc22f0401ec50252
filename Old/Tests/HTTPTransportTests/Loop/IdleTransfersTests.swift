import Testing

@testable import HTTPTransport

/// Which of libcurl's handles are used again. That one that sent something is, `HTTPTransportFailureTests` shows from outside.
struct IdleTransfersTests {
    private let request = HTTPRequest(method: .get, url: "https://localhost/")

    @Test func `one that failed, or never came to send its request, is not used again`() throws {
        var idle = IdleTransfers(configuration: HTTPTransportConfiguration())
        let first = try idle.take(TransferID(rawValue: 1), request)
        idle.add(first, endedWell: false)
        idle.add(first, endedWell: true)

        let second = try idle.take(TransferID(rawValue: 2), request)
        #expect(second !== first)
    }
}
