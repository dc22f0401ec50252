import Contract
import Foundation
import Fulfilment
import HTTPClient
import InventoryService
import Ledger
import Logging
import Metrics
import Scheduling
import Synchronization
import Testing
import Threading

@testable import AppStore
@testable import Processing
@testable import Worker

/// Calls to a real service on loopback, over TLS.
@Suite("Calls to inventory services")
final class FulfilmentDriverTests {
    private static let secret = "0123456789abcdef"
    private static let app: BundleID = "com.example.game"
    private let service: InventoryService
    private let caFile: String
    private let core: Mailbox<CoreMail>
    private let driver: FulfilmentDriver
    private let registry = PrometheusRegistry()
    private let lines = Lines()

    private final class Lines: LogHandler {
        private let lines = Mutex<[(level: Logger.Level, metadata: Logger.Metadata)]>([])
        var all: [(level: Logger.Level, metadata: Logger.Metadata)] { lines.withLock { $0 } }

        func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
            lines.withLock { $0.append((level, metadata)) }
        }
    }

    init() throws {
        service = try InventoryService(secrets: [Self.secret], now: { .now })
        caFile = FileManager.default.temporaryDirectory.appending(path: "inventory-\(UUID().uuidString).pem").path
        try service.rootPEM.write(toFile: caFile, atomically: true, encoding: .utf8)
        core = try Mailbox(bound: 100)
        driver = FulfilmentDriver(
            mostCalls: 100, core: core,
            alerts: AlertLog(
                logger: Logger(label: "test", handler: lines), metrics: WorkerMetrics(registry), topics: [:]))
    }

    deinit {
        driver.stop()
        service.stop()
        try? FileManager.default.removeItem(atPath: caFile)
    }

    private func apps(
        url: String? = nil, secrets: [String] = [secret], timeout: Duration = .seconds(20), trusts: Bool = true,
        caFile file: String? = nil
    ) throws -> AppsSnapshot {
        let route = FulfilmentRoute(
            FulfilmentService(
                url: url ?? service.url, secrets: secrets.map { SigningSecret($0) }, timeout: timeout, mostCalls: 50,
                caFile: trusts ? file ?? caFile : nil))
        return try apps([Self.app: route])
    }

    private func apps(_ services: [BundleID: FulfilmentRoute], version: Int = 1) throws -> AppsSnapshot {
        let verifiers = SignatureVerifiers(roots: try .apple())
        return AppsSnapshot(
            version: version, endpoints: [], services: [],
            content: VerificationParts(
                checker: LocalChecker(apps: [], verifiers: verifiers), verifiers: verifiers, services: services))
    }

    private func grant(_ id: String = "1", app: BundleID = app) -> Grant {
        Grant(
            key: GrantKey(environment: .production, name: "t:\(id)"), transactionID: TransactionID(id),
            originalTransactionID: TransactionID(id), webOrderLineItemID: nil,
            product: Product(id: "gems", type: .consumable, items: []), quantity: 1,
            purchasedAt: Timestamp(milliseconds: 500), expiresAt: nil, ownership: .purchased, payment: nil, offer: nil,
            verifiedBy: "signedTransaction",
            claimant: Claimant(submissionID: "s1", userID: "u", bundleID: app, orderID: nil, traceparent: nil),
            origin: Origin(topic: "t", partition: 0, offset: 0), receivedAt: Timestamp(milliseconds: 1000),
            grantedAt: Timestamp(milliseconds: 2000), attempts: 1, format: .v1, passedOver: nil)
    }

    /// Makes one call, and waits for its end.
    private func call(_ grant: Grant, _ apps: AppsSnapshot) throws -> Called {
        driver.post([CallTask(token: OutboxToken(slot: 3, use: 7), grant: grant, apps: apps)])
        core.wake.wait(until: .now + .seconds(60))
        var mail: [CoreMail] = []
        core.takeAll(into: &mail)
        guard case .input(.called(let called))? = mail.first else { throw Missing() }
        let first = try #require(called.first)
        #expect(called.count == 1 && first.token == OutboxToken(slot: 3, use: 7))
        return first
    }

    private struct Missing: Error {}

    @Test("tell the grant's event, signed, under its id, and a yes is one")
    func accepted() throws {
        let called = try call(grant(), apps())
        #expect(called.result == .accepted && called.outcome == .replied && called.fault == nil)
        let event = GrantedEvent.event(of: grant())
        let book = service.soFar
        #expect(book.applied.keys.map { $0 } == [event.id.rawValue])
        #expect(book.bodies[event.id.rawValue] == [event.value ?? []])
        #expect(book.forged == 0 && book.unnamed == 0)
        #expect(registry.render().contains("grantor_fulfilment_calls_total{app=\"other\",result=\"accepted\"} 1\n"))
    }

    @Test("are genuine to a service that knows either of two secrets")
    func rotation() throws {
        service.accept(secrets: ["fedcba9876543210"])
        let refused =
            "HTTP 401, as from a service that does not know the secret of secretFiles, or whose clock differs from this host's"
        #expect(try call(grant(), apps()).result == .notAccepted(ServiceAnswer(isRefusal: false, refused)))
        let both = try apps(secrets: ["fedcba9876543210", Self.secret])
        #expect(try call(grant(), both).result == .accepted)
        service.accept(secrets: [Self.secret])
        #expect(try call(grant(), both).result == .accepted)
        #expect(service.soFar.applied.count == 1 && service.soFar.calls == 3)
    }

    @Test("that are refused say so, with the pause that the service asks for")
    func refused() throws {
        service.behave { _ in .refuse(status: 422, retryAfter: 90) }
        let called = try call(grant(), apps())
        #expect(called.result == .notAccepted(ServiceAnswer(isRefusal: true, "HTTP 422")))
        #expect(called.outcome == .replied && called.retryAfter == .seconds(90) && called.fault == nil)
        service.behave { _ in .refuse(status: 503, retryAfter: 5) }
        let limited = try call(grant(), apps())
        #expect(limited.outcome == .limited(wait: .seconds(5)) && limited.fault == "HTTP 503")
    }

    @Test("end without a yes if the service hangs, dies, is away, or is not who it should be")
    func unanswered() throws {
        service.behave { _ in .applyAndHang }
        #expect(try call(grant(), apps(timeout: .milliseconds(300))).fault == "no whole answer in time")
        service.behave { _ in .applyAndClose }
        #expect(try call(grant(), apps()).outcome == .failed)
        service.behave { _ in .apply() }
        #expect(
            try call(grant(), apps(trusts: false)).fault == "TLS failed, or the certificate is not trusted (caFile)")
        #expect(try call(grant(), apps()).result == .accepted)
        service.stop()
        #expect(try call(grant("2"), apps()).outcome == .failed)
        try service.start()
        #expect(try call(grant("2"), apps()).result == .accepted)
        #expect(service.soFar.applied.count == 2)
    }

    @Test("are not made for an app without a service, and say nothing about any")
    func missing() throws {
        let called = try call(grant(app: "com.example.other"), apps())
        #expect(called.outcome == .unknown && called.result != .accepted)
        #expect(service.soFar.calls == 0)
    }

    @Test("have no yes where the URL is none that can be called")
    func unusable() throws {
        let called = try call(grant(), apps(url: "https://\(String(repeating: "a", count: 9000))/"))
        #expect(called.result == .notAccepted(ServiceAnswer(isRefusal: false, "the call cannot be sent as it is")))
    }

    @Test("without a client that could make them are told with the cause, once a while, and so is the end of it")
    func noClient() throws {
        let gone = caFile + ".gone"
        defer { try? FileManager.default.removeItem(atPath: gone) }
        for _ in 0..<2 {
            let called = try call(grant(), apps(caFile: gone))
            #expect(called.outcome == .failed && called.result != .accepted)
            #expect(called.fault?.hasPrefix("no call can be made: the setting caFile cannot be used") == true)
        }
        #expect(lines.all.map(\.level) == [.error])
        #expect(lines.all.first?.metadata["ca_file"] == .text(gone))
        #expect(registry.render().contains("grantor_alerts_total{kind=\"service_client_failed\"} 1\n"))
        #expect(try call(grant("2"), apps()).result == .accepted, "other services have theirs")
        try FileManager.default.copyItem(atPath: caFile, toPath: gone)
        #expect(try call(grant(), apps(caFile: gone)).result == .accepted)
        #expect(lines.all.map(\.level) == [.error, .notice])
    }

    @Test("go on under a former apps file, whose client ends with them, and under the next one")
    func formerFile() throws {
        let former = try apps()
        #expect(try call(grant(), former).result == .accepted)
        driver.configured(try apps([:], version: 2))
        for id in ["2", "3"] { #expect(try call(grant(id), former).result == .accepted) }
        #expect(service.soFar.applied.count == 3)
    }

    @Test("end with the driver")
    func stopped() throws {
        driver.stop()
        #expect(try call(grant(), apps()).outcome == .unknown)
    }
}
