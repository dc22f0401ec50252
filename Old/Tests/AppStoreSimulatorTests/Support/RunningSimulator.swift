import Foundation
import Logging
import NIOHTTP1
import Purchases

@testable import AppStoreSimulator

/// Starts a simulator for the time of the closure.
func withSimulator(
    _ change: (inout AppStoreSimulator.Configuration) -> Void = { _ in },
    _ body: (AppStoreSimulator, AppStoreSimulator.Endpoints) async throws -> Void
) async throws {
    var configuration = AppStoreSimulator.Configuration()
    change(&configuration)
    let simulator = try AppStoreSimulator(
        authority: SimulatorAuthority.shared.get(), configuration: configuration, logger: .silent
    ) {
        now
    }
    let endpoints = try await simulator.start()
    do {
        try await body(simulator, endpoints)
    } catch {
        try await simulator.stop()
        throw error
    }
    try await simulator.stop()
}

extension Logger {
    static let silent = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
}

extension AppStoreSimulator.Endpoints {
    func production() async throws -> Client { try await .connect(to: productionURL, caFile: caFile) }
    func sandbox() async throws -> Client { try await .connect(to: sandboxURL, caFile: caFile) }
    func control() async throws -> Client { try await .connect(to: controlURL, caFile: caFile) }

    /// Asks for the statistics until they are as expected, at most so many times.
    func statistics(where isExpected: (Statistics) -> Bool) async throws -> Statistics {
        let client = try await control()
        var last = Statistics()
        for _ in 0..<10_000 {
            let answer = try await client.send(.GET, "/simulator/statistics")
            last = try JSONDecoder().decode(Statistics.self, from: Data(answer.body))
            if isExpected(last) { break }
        }
        await client.close()
        return last
    }
}
