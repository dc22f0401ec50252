import HTTPClient
import Logging
import Testing

struct HTTPClientConfigurationTests {
    typealias Change = @Sendable (inout HTTPClientConfiguration) -> Void

    private static let mistakes: [(field: String, change: Change)] = [
        ("maxInFlight", { $0.maxInFlight = 0 }),
        ("maxInFlight", { $0.maxInFlight = 100_001 }),
        ("maxQueued", { $0.maxQueued = -1 }),
        ("maxResponseBytes", { $0.maxResponseBytes = 0 }),
        ("maxHeaderBytes", { $0.maxHeaderBytes = 262_145 }),
        ("connectTimeout", { $0.connectTimeout = .zero }),
        ("totalTimeout", { $0.totalTimeout = .seconds(3601) }),
        ("maxIdleTime", { $0.maxIdleTime = .zero }),
        ("maxConnectionAge", { $0.maxConnectionAge = .seconds(86_401) }),
        ("dnsCacheTime", { $0.dnsCacheTime = .seconds(-1) }),
        ("userAgent", { $0.userAgent = "a\r\nX-Injected: 1" }),
        ("userAgent", { $0.userAgent = "" }),
        ("caFile", { $0.caFile = "/nonexistent.pem" }),
    ]

    @Test(arguments: 0..<mistakes.count)
    func `a field out of its range is named`(index: Int) {
        var configuration = HTTPClientConfiguration()
        Self.mistakes[index].change(&configuration)

        let error = #expect(throws: HTTPClientError.self) {
            try HTTPClient(configuration: configuration, logger: Logger(label: "test")) { _ in }
        }

        guard case .invalidConfiguration(let field, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(field == Self.mistakes[index].field)
    }

    @Test func `the defaults work`() throws {
        let client = try HTTPClient(configuration: HTTPClientConfiguration(), logger: Logger(label: "test")) { _ in }
        client.stop()
    }
}
