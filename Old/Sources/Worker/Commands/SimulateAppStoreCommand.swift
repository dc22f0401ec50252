import AppStoreSimulator
import ArgumentParser
import Foundation
import Fulfillment
import Logging
import ServiceLifecycle
import UnixSignals

/// `grantor simulate-app-store`.
struct SimulateAppStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate-app-store",
        abstract: "Runs the App Store simulator on its own, on loopback over TLS.",
        discussion: """
            Prints one JSON object with its addresses and the files of its certificates, then runs until SIGTERM. \
            Receipts, signed transactions, scripts and what the App Store Server API knows are asked for over HTTPS under \
            /simulator/ of the control address.
            """)

    @Option(name: .long, help: "Port of the production endpoint; 0 for any.")
    var productionPort = 0

    @Option(name: .long, help: "Port of the sandbox endpoint; 0 for any.")
    var sandboxPort = 0

    @Option(name: .long, help: "Port of the control endpoint; 0 for any.")
    var controlPort = 0

    @Option(name: .long, help: "Folder with the simulator's keys and certificates; made if it is not there.")
    var authorityFolder: String?

    @Option(name: .long, help: "Shared secret to accept; may be given several times. Without any, all are accepted.")
    var acceptSecret: [String] = []

    @Option(name: .long, help: "New .p8 file for a key that the App Store Server API accepts; its ids are printed.")
    var apiKeyFile: String?

    @Option(name: .long, help: "Milliseconds that every answer takes.")
    var latency = 0

    @Option(name: .long, help: "Threads that serve connections.")
    var threads = 1

    func validate() throws {
        guard [productionPort, sandboxPort, controlPort].allSatisfy((0...65_535).contains) else {
            throw ValidationError("a port must be from 0 to 65535")
        }
        guard (1...64).contains(threads) else { throw ValidationError("--threads must be from 1 to 64") }
        guard (0...3_600_000).contains(latency) else { throw ValidationError("--latency must be from 0 to 3600000") }
    }

    func run() async throws {
        let clock = SystemClock()
        var configuration = AppStoreSimulator.Configuration()
        configuration.productionPort = productionPort
        configuration.sandboxPort = sandboxPort
        configuration.controlPort = controlPort
        configuration.acceptedSecrets = Set(acceptSecret)
        configuration.threads = threads
        let key = apiKeyFile.map { _ in ServerAPIKey() }
        configuration.serverAPIKeys = key.map { [$0] } ?? []
        let simulator: AppStoreSimulator
        let endpoints: AppStoreSimulator.Endpoints
        do {
            let authority = try authority()
            if let authorityFolder {
                configuration.caFile = URL(filePath: authorityFolder).appending(path: "ca.pem")
                configuration.rootsFile = URL(filePath: authorityFolder).appending(path: "roots.pem")
            }
            if let apiKeyFile { try key?.save(to: URL(filePath: apiKeyFile)) }
            simulator = try AppStoreSimulator(authority: authority, configuration: configuration, now: { clock.now() })
            if latency > 0 { simulator.behave(Behaviour(latency: .fixed(milliseconds: latency))) }
            endpoints = try await simulator.start()
        } catch {
            throw ExitStatus.failed.saying("the simulator cannot start: \(ErrorSentence.of(error))")
        }
        var addresses = [
            "productionURL": endpoints.productionURL.absoluteString,
            "sandboxURL": endpoints.sandboxURL.absoluteString, "controlURL": endpoints.controlURL.absoluteString,
            "serverAPIProductionURL": endpoints.serverAPIProductionURL.absoluteString,
            "serverAPISandboxURL": endpoints.serverAPISandboxURL.absoluteString,
            "caFile": endpoints.caFile.path, "rootsFile": endpoints.rootsFile.path,
        ]
        addresses["apiKeyFile"] = apiKeyFile
        addresses["issuerId"] = key?.issuerID
        addresses["keyId"] = key?.keyID
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(try encoder.encode(addresses) + Data("\n".utf8))
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [UntilShutdown()], gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "simulator")))
        try await group.run()
        try await simulator.stop()
    }

    private func authority() throws -> SimulatorAuthority {
        guard let authorityFolder else { return try SimulatorAuthority(now: Date()) }
        return try SimulatorAuthority.kept(in: URL(filePath: authorityFolder), now: Date())
    }
}

/// A service that only waits for the signal to end.
private struct UntilShutdown: Service {
    func run() async throws {
        try await gracefulShutdown()
    }
}
