public import CommandParser
internal import Contract
internal import FoundationEssentials
internal import Glibc
internal import Logging

public enum SimulatorProgram {
    public struct Context: Sendable {
        /// Takes the line with the addresses.
        let write: @Sendable (String) -> Void
        /// Returns when the program is to end.
        let waitForEnd: @Sendable () -> Void

        /// - Parameters:
        ///   - write: Takes the line with the addresses.
        ///   - waitForEnd: Returns when the program is to end.
        public init(write: @escaping @Sendable (String) -> Void, waitForEnd: @escaping @Sendable () -> Void) {
            self.write = write
            self.waitForEnd = waitForEnd
        }
    }

    public static var program: Program<Context> {
        Program(
            Command<Context>(
                "grantor-simulator", "Runs the App Store simulator on its own, over TLS.",
                discussion: """
                    Prints one JSON object with its addresses and the files of its certificates, then runs until \
                    SIGTERM. Receipts, signed transactions, scripts and the transactions of the App Store Server \
                    API are asked for over HTTPS under /simulator/ of the control address.
                    """,
                [
                    host, productionPort, sandboxPort, controlPort, authorityFolder, acceptSecret, apiKeyFile, latency,
                ], run: run),
            version: "0.2.0")
    }

    private static let host = Parameter<String?>.option(
        "host", .text,
        help: "Name of this host for clients elsewhere; without it, loopback alone. A kept authority keeps its name.")
    private static let productionPort = port("production-port", "production")
    private static let sandboxPort = port("sandbox-port", "sandbox")
    private static let controlPort = port("control-port", "control")
    private static let authorityFolder = Parameter<String?>.option(
        "authority-folder", .text, help: "Folder with the simulator's keys and certificates; made if it is not there.")
    private static let acceptSecret = Parameter<String?>.option(
        "accept-secret", .text, help: "Shared secrets to accept, with commas between; without any, all are accepted.")
    private static let apiKeyFile = Parameter<String?>.option(
        "api-key-file", .text,
        help: "New .p8 file for a key that the App Store Server API accepts; its ids are printed.")
    private static let latency = Parameter.option(
        "latency", .integer(0...3_600_000), default: 0, help: "Milliseconds that every answer takes.")

    private static func port(_ name: String, _ endpoint: String) -> Parameter<Int> {
        .option(name, .integer(0...65_535), default: 0, help: "Port of the \(endpoint) endpoint; 0 for any.")
    }

    private static func run(_ arguments: ParsedArguments, _ context: Context) throws(CommandFailure) {
        var configuration = SimulatorConfiguration()
        let host = try arguments[host]
        configuration.host = host ?? configuration.host
        configuration.productionPort = try arguments[productionPort]
        configuration.sandboxPort = try arguments[sandboxPort]
        configuration.controlPort = try arguments[controlPort]
        configuration.acceptedSecrets = Set((try arguments[acceptSecret] ?? "").split(separator: ",").map(String.init))
        let folder = try arguments[authorityFolder]
        configuration.caFile = folder.map { "\($0)/ca.pem" }
        configuration.rootsFile = folder.map { "\($0)/roots.pem" }
        let keyFile = try arguments[apiKeyFile]
        let milliseconds = try arguments[latency]
        let running: (simulator: AppStoreSimulator, line: String)
        do {
            running = try start(configuration, folder: folder, host: host, keyFile: keyFile, latency: milliseconds)
        } catch {
            throw CommandFailure(.failed, "the simulator cannot start: \(error)")
        }
        context.write(running.line)
        context.waitForEnd()
        running.simulator.stop()
    }

    private static func start(
        _ configuration: SimulatorConfiguration, folder: String?, host: String?, keyFile: String?, latency: Int
    ) throws -> (simulator: AppStoreSimulator, line: String) {
        var configuration = configuration
        let authority =
            if let folder {
                try SimulatorAuthority.kept(in: folder, host: host, now: now())
            } else {
                try SimulatorAuthority(host: host, now: now())
            }
        let key = try keyFile.map { _ in try ServerAPIKey() }
        configuration.serverAPIKeys = key.map { [$0] } ?? []
        if let keyFile { try key?.save(to: keyFile) }
        let simulator = try AppStoreSimulator(authority: authority, configuration: configuration, now: now)
        if latency > 0 { simulator.behave(Behaviour(latency: .fixed(milliseconds: latency))) }
        let endpoints = try simulator.start()
        var addresses = [
            "productionURL": endpoints.productionURL, "sandboxURL": endpoints.sandboxURL,
            "controlURL": endpoints.controlURL, "serverAPIProductionURL": endpoints.serverAPIProductionURL,
            "serverAPISandboxURL": endpoints.serverAPISandboxURL, "caFile": endpoints.caFile,
            "rootsFile": endpoints.rootsFile,
        ]
        addresses["apiKeyFile"] = keyFile
        addresses["issuerId"] = key?.issuerID
        addresses["keyId"] = key?.keyID
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (simulator, String(decoding: try encoder.encode(addresses), as: UTF8.self) + "\n")
    }

    @Sendable private static func now() -> Timestamp {
        var time = timespec()
        // Fails only for a clock that does not exist.
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
