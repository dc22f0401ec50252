import HTTPTransport
import Logging
import Testing

struct HTTPTransportConfigurationTests {
    typealias Change = @Sendable (inout HTTPTransportConfiguration) -> Void

    private static let mistakes: [(field: String, change: Change)] = [
        ("maxConnections", { $0.maxConnections = 0 }),
        ("maxConnections", { $0.maxConnections = 100_001 }),
        ("maxWaiting", { $0.maxWaiting = -1 }),
        ("maxResponseBytes", { $0.maxResponseBytes = 0 }),
        ("maxHeaderBytes", { $0.maxHeaderBytes = 262_145 }),
        ("connectTimeout", { $0.connectTimeout = .zero }),
        ("totalTimeout", { $0.totalTimeout = .seconds(3601) }),
        ("minimumBytesPerSecond", { $0.minimumBytesPerSecond = -1 }),
        ("minimumSpeedWindow", { $0.minimumSpeedWindow = .milliseconds(1500) }),
        ("maxIdleTime", { $0.maxIdleTime = .zero }),
        ("maxConnectionAge", { $0.maxConnectionAge = .seconds(86_401) }),
        ("dnsCacheTime", { $0.dnsCacheTime = .seconds(-1) }),
        ("userAgent", { $0.userAgent = "a\r\nX-Injected: 1" }),
        ("userAgent", { $0.userAgent = "" }),
        ("caFile", { $0.caFile = "/nonexistent.pem" }),
    ]

    @Test(arguments: 0..<mistakes.count)
    func `a field out of its range is named`(index: Int) {
        var configuration = HTTPTransportConfiguration()
        Self.mistakes[index].change(&configuration)

        let error = #expect(throws: HTTPTransportError.self) {
            try HTTPTransport(configuration: configuration, logger: Logger(label: "test"))
        }

        guard case .invalidConfiguration(let field, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(field == Self.mistakes[index].field)
        #expect(error?.disposition == .configuration)
    }

    @Test(arguments: [HTTPTransportConfiguration.HTTPVersion.http1_1, .http2])
    func `the defaults work with both versions`(version: HTTPTransportConfiguration.HTTPVersion) async throws {
        var configuration = HTTPTransportConfiguration()
        configuration.httpVersion = version
        let transport = try HTTPTransport(configuration: configuration, logger: Logger(label: "test"))
        await transport.shutdown()
        await #expect(throws: HTTPTransportError.closed) {
            try await transport.send(HTTPRequest(method: .get, url: "https://localhost/"))
        }
    }
}
