import AppStoreSimulator
import Foundation
import Logging
import Purchases

/// The App Store for one test: the simulator in this process, over real TLS on loopback.
struct Apple: Sendable {
    /// What the apps file names as the app's shared secret. No log, metric or event may hold it.
    static let sharedSecret = "c0ffee0canary0c0ffee0canary0beef"

    let simulator: AppStoreSimulator
    let endpoints: AppStoreSimulator.Endpoints
    /// Signs what looks right and is not.
    let forger: ReceiptFactory

    static func start(in folder: URL) async throws -> Apple {
        var configuration = AppStoreSimulator.Configuration()
        configuration.caFile = folder.appending(path: "ca.pem")
        configuration.rootsFile = folder.appending(path: "roots.pem")
        configuration.acceptedSecrets = [sharedSecret]
        let simulator = try AppStoreSimulator(
            authority: SimulatorAuthority(now: Date()), configuration: configuration, logger: .silent,
            now: { .present })
        return Apple(
            simulator: simulator, endpoints: try await simulator.start(),
            forger: try ReceiptFactory(authority: SimulatorAuthority(now: Date())))
    }

    /// Answers that take a while, so that much is in flight at any moment.
    func takeTime(from: Int, through: Int) {
        simulator.behave(Behaviour(latency: .uniform(from: from, through: through)))
    }
}

extension Timestamp {
    /// Now, by this machine's clock.
    static var present: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}
