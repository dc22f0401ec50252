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
        let cases: [(HTTPFailure.Kind, TransportFailure)] = [
            (.dnsFailed, .unreachable), (.connectFailed, .unreachable), (.connectTimeout, .timedOut),
            (.tlsFailed, .tls), (.timedOut, .timedOut), (.connectionLost, .interrupted),
            (.malformedResponse, .interrupted), (.responseTooLarge, .tooLarge), (.stopped, .cancelled),
            (.queueFull, .cancelled), (.proxyFailed, .unreachable), (.libraryFault, .cancelled),
        ]
        #expect(cases.count == HTTPFailure.Kind.allCases.count)
        for (kind, expected) in cases {
            #expect(AppStoreReply(.failure(HTTPFailure(kind, "words"))) == .failed(expected))
        }
        let response = HTTPResponse(
            status: 429, headers: [HTTPHeader(name: "Retry-After", value: "5")], body: [0x7B])
        #expect(
            AppStoreReply(.success(response))
                == .response(httpStatus: 429, retryAfter: "5", body: [0x7B]))
    }
}
