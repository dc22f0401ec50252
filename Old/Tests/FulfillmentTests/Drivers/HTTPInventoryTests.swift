import AppStoreSimulator
import Foundation
import HTTPTransport
import InventoryTesting
import Ledger
import Logging
import Purchases
import Testing

@testable import Fulfillment

@Suite("Inventory services over HTTP", .timeLimit(.minutes(5)))
struct HTTPInventoryTests {
    private static let grant: GrantID = "0b7d9a52-0000-5000-8000-000000000001"

    /// Tells a service of a grant, and judges its reply.
    private func tell(
        _ url: String, timeout: Duration = .seconds(60), plainLoopback: Bool = true
    ) async throws -> DeliveryAnswer {
        var configuration = HTTPTransportConfiguration()
        configuration.plainLoopback = plainLoopback
        configuration.connectTimeout = .seconds(60)
        configuration.minimumBytesPerSecond = 0
        configuration.maxResponseBytes = DeliveryReply.maxBytes
        let transport = try HTTPTransport(configuration: configuration, logger: Logger(label: "test"))
        let event = Event(
            id: "0b7d9a52-0000-5000-8000-000000000002", kind: .granted, key: Array("u".utf8),
            headers: [EventHeader("ce_id", "0b7d9a52-0000-5000-8000-000000000002")], value: Array("{}".utf8))
        let request = DeliveryRequest(
            Delivery(bundleID: "com.example.game", grantID: Self.grant, event: event),
            to: InventoryService(url: url, secrets: [SigningSecret("0123456789abcdef")], timeout: timeout),
            now: Timestamp(milliseconds: 1_795_000_000_000))
        let reply = await HTTPInventory(["com.example.game": transport]).tell(request)
        await transport.shutdown()
        return DeliveryAnswer(reply, to: Self.grant, now: Timestamp(milliseconds: 1_795_000_000_000))
    }

    private func answer(
        to behaviour: InventoryServer.Behaviour, timeout: Duration = .seconds(60)
    ) async throws -> (DeliveryAnswer, InventoryServer.Book) {
        let server = try await InventoryServer(now: { 0 }, script: { _ in behaviour })
        let answer = try await tell(server.url, timeout: timeout)
        let book = server.soFar
        try await server.close()
        return (answer, book)
    }

    @Test("A yes is done, and the service got what was sent")
    func yes() async throws {
        let (answer, book) = try await answer(to: .apply(status: 204, body: ""))
        #expect(answer == .done)
        let call = try #require(book.calls.first)
        #expect(call.key == Self.grant.rawValue)
        #expect(call.body == Array("{}".utf8))
        #expect(call.headers["ce-id"] == "0b7d9a52-0000-5000-8000-000000000002")
        #expect(call.headers["grantor-signature"]?.hasPrefix("t=1795000000,v1=") == true)
    }

    @Test("An answer that comes twice is done, and disturbs no other")
    func twice() async throws {
        #expect(try await answer(to: .applyTwiceAnswered).0 == .done)
    }

    @Test("A conflict about the same grant is done, about another it is not")
    func conflict() async throws {
        let same = "{\"grantId\":\"\(Self.grant)\"}"
        #expect(try await answer(to: .refuse(status: 409, body: same)).0 == .doneBefore)
        #expect(
            try await answer(to: .refuse(status: 409, headers: ["idempotency-key: \(Self.grant)"])).0 == .doneBefore)
        #expect(
            try await answer(to: .refuse(status: 409, body: #"{"grantId":"another"}"#)).0
                == .failed(.conflict, status: 409))
    }

    @Test("A failure and a redirect are tried again, and nobody is followed anywhere")
    func failure() async throws {
        #expect(try await answer(to: .refuse(status: 500)).0 == .failed(.failed, status: 500))
        let (answer, book) = try await answer(to: .refuse(status: 307, headers: ["Location: http://127.0.0.1:9/"]))
        #expect(answer == .failed(.redirected, status: 307))
        #expect(book.calls.count == 1)
    }

    @Test("A service that is silent is given up when its time is over")
    func timeout() async throws {
        var applied = 0
        // Longer each time, for a machine on which the request needs more than that to arrive.
        for seconds in [0.3, 3, 30] where applied == 0 {
            let (answer, book) = try await answer(to: .applyAndHang, timeout: .seconds(seconds))
            #expect(answer == .failed(.timedOut))
            applied = book.applied.count
        }
        #expect(applied == 1)
    }

    @Test("An answer that is cut says nothing")
    func cut() async throws {
        #expect(try await answer(to: .applyAndCut).0 == .failed(.interrupted))
        #expect(try await answer(to: .applyAndDie).0 == .failed(.interrupted))
    }

    @Test("An answer that is too large says nothing")
    func tooLarge() async throws {
        let body = String(repeating: "x", count: DeliveryReply.maxBytes + 1)
        #expect(try await answer(to: .apply(body: body)).0 == .failed(.tooLarge))
    }

    @Test("Where nobody listens is unreachable")
    func unreachable() async throws {
        let server = try await InventoryServer(now: { 0 }, script: { _ in .hang })
        let url = server.url
        try await server.close()
        #expect(try await tell(url) == .failed(.unreachable))
    }

    @Test("A certificate of an authority that is not trusted is not believed")
    func untrusted() async throws {
        let folder = try TemporaryFolder()
        var configuration = AppStoreSimulator.Configuration()
        configuration.caFile = URL(filePath: folder.path("ca.pem"))
        let simulator = try AppStoreSimulator(
            authority: SimulatorAuthority(now: Date()), configuration: configuration, logger: Logger(label: "test"),
            now: { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
        let endpoints = try await simulator.start()
        #expect(try await tell(endpoints.productionURL.absoluteString) == .failed(.tls))
        try await simulator.stop()
    }

    @Test("Without TLS only this host is called")
    func plain() async throws {
        let server = try await InventoryServer(now: { 0 }, script: { _ in .apply() })
        #expect(try await tell(server.url, plainLoopback: false) == .failed(.unreachable))
        #expect(try await tell("http://192.0.2.1/grants") == .failed(.unreachable))
        #expect(server.soFar.calls.isEmpty)
        try await server.close()
    }
}
