import Foundation
import NIOHTTP1
import Purchases
import Testing

@testable import AppStoreSimulator

struct EndpointServiceTests {
    @Test func anOutageCoversBothServices() async throws {
        try await withSimulator { simulator, endpoints in
            simulator.behave(Behaviour(outage: .unavailable), in: [.sandbox])
            let sandbox = try await endpoints.sandbox()
            #expect(try await sandbox.send(.GET, "/inApps/v1/transactions/7").code == 503)
            #expect(try await sandbox.send(.POST, "/verifyReceipt", "{}").code == 503)
            let production = try await endpoints.production()
            #expect(try await production.send(.GET, "/inApps/v1/transactions/7").code == 401)
            #expect(simulator.statistics().sandbox.faults == ["unavailable": 2])
        }
    }

    @Test func filesAreThereWhileTheSimulatorRuns() async throws {
        try await withSimulator { simulator, endpoints in
            let files = [endpoints.caFile, endpoints.rootsFile].map(\.path)
            #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0) })
            try await simulator.stop()
            #expect(!files.contains { FileManager.default.fileExists(atPath: $0) })
            _ = try await simulator.start()
            #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0) })
        }
    }

    @Test func theServerAPIsBaseIsTheEndpointsHost() async throws {
        try await withSimulator { _, endpoints in
            let production = endpoints.serverAPIProductionURL.absoluteString
            #expect(endpoints.productionURL.absoluteString == production + "/verifyReceipt")
            let sandbox = endpoints.serverAPISandboxURL.absoluteString
            #expect(endpoints.sandboxURL.absoluteString == sandbox + "/verifyReceipt")
        }
    }
}
