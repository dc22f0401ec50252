import AppStoreSimulator
import Glibc
import Synchronization

/// The simulator in Apple's place, and its outages.
final class AppleStandIn: Sendable {
    let simulator: AppStoreSimulator
    let endpoints: AppStoreSimulator.Endpoints
    /// The socket that listens in Apple's place and is never read; -1 for none.
    private let silence = Mutex<Int32>(-1)

    init(authority: SimulatorAuthority, folder: String) throws {
        var configuration = SimulatorConfiguration()
        configuration.caFile = folder + "/apple-ca.pem"
        configuration.rootsFile = folder + "/apple-roots.pem"
        simulator = try AppStoreSimulator(authority: authority, configuration: configuration, now: { .thisSecond })
        endpoints = try simulator.start()
    }

    /// Apple is away from now on.
    func takeAway(_ way: Options.Away) throws(ChaosFailure) {
        simulator.stop()
        guard way == .silent else { return }
        // Workers that are started meanwhile must not inherit it: they would listen instead of Apple for ever.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        silence.withLock { $0 = listener }
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        let port = endpoints.serverAPIProductionURL.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(listener, 64) == 0 else { throw ChaosFailure("cannot listen in Apple's place") }
    }

    /// Apple is back, with a latency.
    func bringBack(milliseconds: Int) throws {
        silence.withLock { silence in
            if silence >= 0 { close(silence) }
            silence = -1
        }
        simulator.behave(Behaviour(latency: .fixed(milliseconds: milliseconds)))
        _ = try simulator.start()
    }
}

extension ServerAPIKey {
    private static let file = "key.p8"

    /// A key that Apple knows, in the folder of the apps file.
    init(acceptedIn world: World) throws {
        self = try ServerAPIKey()
        try save(to: "\(world.folder)/\(Self.file)")
        try world.apple.accept(self)
    }

    /// The member of an app that may ask the App Store Server API.
    var member: String { "serverAPI: {issuerId: \(issuerID), keyId: \(keyID), privateKeyFile: \(Self.file)}" }
}
