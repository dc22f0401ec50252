import AppStoreSimulator
import Foundation
import Logging
import Purchases

/// The App Store of a run: the simulator over real TLS, with a fault proxy before production and sandbox.
struct AppStore: Sendable {
    /// What the apps file names as the app's shared secret.
    private static let sharedSecret = "c0ffee0chaos00c0ffee0chaos00beef"

    let simulator: AppStoreSimulator
    let writer: ClaimWriter
    /// Before production and sandbox.
    let proxies: [FaultProxy]
    /// Variables of a worker that is to ask this App Store.
    let environment: [String: String]
    private let latency: Latency

    /// Starts everything and writes the apps file and its secrets.
    ///
    /// - Parameters:
    ///   - workers: that share Apple's rate limit.
    ///   - inventory: the service that is told of one app's grants.
    static func start(
        latency: Latency, workers: Int, seed: UInt64, inventory: Inventory, in folder: URL
    ) async throws -> AppStore {
        let key = ServerAPIKey()
        let keyFile = folder.appending(path: "AuthKey.p8")
        try key.save(to: keyFile)
        var configuration = AppStoreSimulator.Configuration()
        configuration.caFile = folder.appending(path: "ca.pem")
        configuration.rootsFile = folder.appending(path: "roots.pem")
        configuration.acceptedSecrets = [sharedSecret]
        configuration.serverAPIKeys = [key]
        configuration.seed = seed
        let simulator = try AppStoreSimulator(
            authority: SimulatorAuthority(now: Date()), configuration: configuration, logger: .silent,
            now: { SystemTime.now })
        simulator.behave(Behaviour(latency: latency))
        let endpoints = try await simulator.start()
        let production = try await FaultProxy.start(before: endpoints.serverAPIProductionURL.port ?? 0)
        let sandbox = try await FaultProxy.start(before: endpoints.serverAPISandboxURL.port ?? 0)
        try Data((sharedSecret + "\n").utf8).write(to: folder.appending(path: "shared-secret"))
        let appsFile = folder.appending(path: "apps.yaml")
        let apps = Catalogue.appsFile(
            key: (key.issuerID, key.keyID, keyFile.lastPathComponent), workers: workers,
            inventory: (inventory.url, Inventory.secretFile))
        try Data(apps.utf8).write(to: appsFile)
        return AppStore(
            simulator: simulator,
            writer: ClaimWriter(
                simulator: simulator, forger: try ReceiptFactory(authority: SimulatorAuthority(now: Date())),
                now: SystemTime.now),
            proxies: [production, sandbox],
            environment: [
                "GRANTOR_APPS_FILE": appsFile.path,
                "GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL": "https://127.0.0.1:\(production.port)/verifyReceipt",
                "GRANTOR_VERIFY_RECEIPT_SANDBOX_URL": "https://127.0.0.1:\(sandbox.port)/verifyReceipt",
                "GRANTOR_SERVER_API_PRODUCTION_URL": "https://127.0.0.1:\(production.port)",
                "GRANTOR_SERVER_API_SANDBOX_URL": "https://127.0.0.1:\(sandbox.port)",
                "GRANTOR_APPLE_CA_FILE": endpoints.caFile.path,
                "GRANTOR_APPLE_ROOT_CERTIFICATES": endpoints.rootsFile.path,
            ],
            latency: latency)
    }

    func set(_ mode: FaultProxy.Mode) async throws {
        for proxy in proxies { try await proxy.set(mode) }
    }

    func cut() async throws {
        for proxy in proxies { try await proxy.cut() }
    }

    /// Answers as it should.
    func behave() {
        simulator.behave(Behaviour(latency: latency))
    }

    /// Answers every call with 503.
    func goOut() {
        simulator.behave(Behaviour(latency: latency, outage: .unavailable))
    }

    /// Answers half of the calls with errors.
    func brownOut() {
        let faults: [Fault] = [
            .http(code: 503), .status(code: 21005), .reset, .truncated, .html, .hang, .apiError(code: 5_000_001),
            .drip(bytes: 64, everyMilliseconds: 50),
        ]
        simulator.behave(
            Behaviour(latency: latency, faults: faults.map { .init(0.5 / Double(faults.count), $0) }))
    }

    /// Ends the simulator and the proxies.
    func close() async throws {
        for proxy in proxies { try await proxy.close() }
        try await simulator.stop()
    }
}
