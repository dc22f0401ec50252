import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

struct EndpointServiceTests {
    @Test("An outage covers both services")
    func outage() throws {
        try withSimulator { simulator, endpoints in
            simulator.behave(Behaviour(outage: .unavailable), in: [.sandbox])
            let sandbox = try endpoints.sandbox()
            #expect(try sandbox.send("GET", "/inApps/v1/transactions/7").code == 503)
            #expect(try sandbox.send("POST", "/verifyReceipt", "{}").code == 503)
            let production = try endpoints.production()
            #expect(try production.send("GET", "/inApps/v1/transactions/7").code == 401)
            #expect(simulator.statistics().sandbox.faults == ["unavailable": 2])
        }
    }

    @Test("Files are there while the simulator runs")
    func files() throws {
        try withSimulator { simulator, endpoints in
            let files = [endpoints.caFile, endpoints.rootsFile]
            #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0) })
            simulator.stop()
            #expect(!files.contains { FileManager.default.fileExists(atPath: $0) })
            _ = try simulator.start()
            #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0) })
        }
    }

    @Test("The server API's base is the endpoint's host")
    func base() throws {
        try withSimulator { _, endpoints in
            let production = endpoints.serverAPIProductionURL
            #expect(endpoints.productionURL == production + "/verifyReceipt")
            let sandbox = endpoints.serverAPISandboxURL
            #expect(endpoints.sandboxURL == sandbox + "/verifyReceipt")
        }
    }
}
