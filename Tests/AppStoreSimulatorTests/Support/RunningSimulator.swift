import Contract
import Foundation
import Logging

@testable import AppStoreSimulator

/// Starts a simulator for the time of the closure.
func withSimulator(
    _ change: (inout SimulatorConfiguration) -> Void = { _ in },
    _ body: (AppStoreSimulator, AppStoreSimulator.Endpoints) throws -> Void
) throws {
    var configuration = SimulatorConfiguration()
    change(&configuration)
    let simulator = try AppStoreSimulator(
        authority: SimulatorAuthority.shared.get(), configuration: configuration, logger: .silent
    ) {
        now
    }
    let endpoints = try simulator.start()
    defer { simulator.stop() }
    try body(simulator, endpoints)
}

extension Logger {
    static let silent = Logger(label: "silent", level: .critical, handler: LineLogHandler(format: .text))
}

extension AppStoreSimulator.Endpoints {
    func production() throws -> Client { try Client(to: productionURL, caFile: caFile) }
    func sandbox() throws -> Client { try Client(to: sandboxURL, caFile: caFile) }
    func control() throws -> Client { try Client(to: controlURL, caFile: caFile) }

    /// Asks for the statistics until they are as expected, at most so many times.
    func statistics(where isExpected: (Statistics) -> Bool) throws -> Statistics {
        let client = try control()
        var last = Statistics()
        for _ in 0..<10_000 {
            let answer = try client.send("GET", "/simulator/statistics")
            last = try JSONDecoder().decode(Statistics.self, from: Data(answer.body))
            if isExpected(last) { break }
        }
        return last
    }
}
