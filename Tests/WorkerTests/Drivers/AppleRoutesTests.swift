import AppStore
import Configuration
import Contract
import HTTPClient
import Testing

@testable import Worker

@Suite("The way to Apple")
struct AppleRoutesTests {
    private let settings: AppleSettings

    init() throws { settings = try AppleSettings(SettingValues.load(file: nil, environment: [:])) }

    @Test("A probe of verifyReceipt goes to the configured URL")
    func probe() throws {
        let routes = try AppleRoutes(settings)
        let call = try routes.emptyReceiptCall(.sandbox, token: 7)
        #expect(call.token == 7 && call.request.method == .post)
        #expect(call.request.endpoint.baseURL == "https://sandbox.itunes.apple.com/verifyReceipt")
        #expect(call.body?.bytes == Array("{}".utf8))
    }

    @Test("A proxy is on the way of every call, and its password is not shown")
    func proxy() throws {
        let values = try SettingValues.load(
            file: nil, environment: ["GRANTOR_APPLE_PROXY": "http://me:canary@proxy.example.com:3128"])
        let call = try AppleRoutes(AppleSettings(values)).emptyReceiptCall(.production, token: 0)
        #expect(call.request.endpoint.proxy?.description == "http://proxy.example.com:3128")
    }

    @Test("The client has Apple's limits")
    func configuration() {
        let configuration = AppleRoutes.clientConfiguration(settings, maxCalls: 7)
        #expect(configuration.connectTimeout == .seconds(3) && configuration.totalTimeout == .seconds(20))
        #expect(configuration.maxInFlight == 7)
        #expect(configuration.maxResponseBytes == AppStoreReply.maxBytes && configuration.caFile == nil)
    }

    @Test("Every failure of the client is one that the policy knows")
    func failures() {
        let failure = CurlFailure(code: 1, text: "x")
        let cases: [(HTTPFailure, TransportFailure)] = [
            (.dnsFailed(failure), .unreachable), (.connectTimeout(failure), .timedOut),
            (.tlsFailed(.untrusted, failure), .tls), (.timedOut(failure), .timedOut),
            (.connectionLost(requestSent: true, failure), .interrupted), (.responseTooLarge(.body), .tooLarge),
            (.stopped, .cancelled), (.queueFull, .cancelled), (.proxyFailed(status: 407, failure), .unreachable),
        ]
        for (failure, expected) in cases {
            #expect(AppStoreReply(.failure(failure)) == .failed(expected))
        }
        let response = HTTPResponse(
            status: 429, headers: [HTTPHeader(name: "Retry-After", value: "5")], body: [0x7B])
        #expect(
            AppStoreReply(.success(response))
                == .response(httpStatus: 429, retryAfter: "5", body: [0x7B]))
    }
}
