import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

struct AppStoreSimulatorTests {
    @Test("A receipt is verified over TLS")
    func receipt() throws {
        try withSimulator { simulator, endpoints in
            let answer = try endpoints.production().verify(simulator.issue(.sample()))
            #expect(answer.code == 200)
            #expect(answer.header("Content-Type") == "application/json")
            #expect(answer.status == 0)
        }
    }

    @Test("A sandbox receipt hops from production and back")
    func sandboxHop() throws {
        try withSimulator { simulator, endpoints in
            let sandbox = try simulator.issue(.sample([.gems()], .sandbox))
            let production = try simulator.issue(.sample())
            #expect(try endpoints.production().verify(sandbox).status == 21007)
            #expect(try endpoints.sandbox().verify(sandbox).status == 0)
            #expect(try endpoints.sandbox().verify(production).status == 21008)
            #expect(try endpoints.production().verify(production).status == 0)
        }
    }

    @Test("Requests that are none are refused")
    func refusedRequests() throws {
        try withSimulator({ $0.bodyLimit = 100 }) { simulator, endpoints in
            let client = try endpoints.production()
            #expect(try client.send("GET").status == 21000)
            #expect(try client.send("POST", "/verifyReceipt", "receipt").status == 21000)
            #expect(try client.send("POST", "/verifyReceipt?x=1", "{}").status == 21002)
            #expect(try client.send("POST", "/other", "{}").code == 404)
            let tooLarge = try client.verify(simulator.issue(.sample()))
            #expect(tooLarge.code == 413)
            #expect(tooLarge.header("Connection") == "close")
            #expect(simulator.statistics().production.refusals == [404: 1, 413: 1])
        }
    }

    @Test("A secret is asked for")
    func secret() throws {
        try withSimulator({ $0.acceptedSecrets = ["right"] }) { simulator, endpoints in
            let receipt = try simulator.issue(.sample([.month("1", original: "1", endsInDays: 9)]))
            let client = try endpoints.production()
            #expect(try client.verify(receipt).status == 21004)
            let body = "{\"receipt-data\":\"\(receipt)\",\"password\":\"right\"}"
            #expect(try client.send("POST", "/verifyReceipt", body).status == 0)
        }
    }

    @Test("A simulator comes back to its ports")
    func samePorts() throws {
        try withSimulator { simulator, endpoints in
            let receipt = try simulator.issue(.sample())
            let before = try endpoints.production()
            #expect(try before.verify(receipt).status == 0)
            simulator.stop()
            #expect(throws: (any Error).self) { try before.verify(receipt) }
            #expect(throws: (any Error).self) { try endpoints.production() }
            #expect(try simulator.start() == endpoints)
            #expect(try endpoints.production().verify(receipt).status == 0)
            #expect(simulator.statistics().production.calls == 2)
        }
    }

    @Test("One simulator runs once")
    func runsOnce() throws {
        try withSimulator { simulator, _ in
            #expect(throws: SimulatorError.alreadyRunning) { try simulator.start() }
        }
    }

    @Test("A taken port is reported, and nothing is left open")
    func takenPort() throws {
        try withSimulator { _, endpoints in
            var configuration = SimulatorConfiguration()
            configuration.sandboxPort = try #require(URL(string: endpoints.sandboxURL)?.port)
            let second = try AppStoreSimulator(
                authority: SimulatorAuthority.shared.get(), configuration: configuration, logger: .silent
            ) { now }
            #expect(throws: SimulatorError.self) { try second.start() }
            #expect(throws: SimulatorError.self) { try second.start() }
        }
    }

    @Test("Simulators with one authority answer alike")
    func sameAuthority() throws {
        try withSimulator { first, _ in
            let receipt = try first.issue(.sample())
            try withSimulator { _, endpoints in
                let answer = try endpoints.production().verify(receipt)
                #expect(answer.status == 0)
            }
        }
    }

    @Test("A stranger's certificate is not trusted")
    func strangers() throws {
        let stranger = try SimulatorAuthority(now: .present).serverRootPEM
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
        try Data(stranger.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try withSimulator { _, endpoints in
            let client = try Client(to: endpoints.productionURL, caFile: file.path)
            #expect(throws: (any Error).self) { try client.send() }
        }
    }

    @Test("Calls are counted")
    func counts() throws {
        try withSimulator { simulator, endpoints in
            let client = try endpoints.production()
            for _ in 0..<3 { _ = try client.verify(simulator.issue(.sample([.gems("7")]))) }
            simulator.behave(Behaviour(outage: .unavailable), in: [.production])
            #expect(try client.verify("").code == 503)
            let statistics = try endpoints.statistics { $0.production.calls == 4 }
            #expect(statistics.production.statuses == [0: 3])
            #expect(statistics.production.faults == ["unavailable": 1])
            #expect(statistics.callsByTransaction == ["7": 3])
            #expect(statistics.connectionsPeak == 1)
            #expect(statistics.inFlightPeak == 1)
            #expect(statistics.inFlight == 0)
        }
    }

    @Test("A signed transaction is issued now")
    func issued() throws {
        try withSimulator { simulator, _ in
            let issued = try SignedData(simulator.issueSigned(.sample(.gems("7"), .sandbox)))
            #expect(issued.isSignatureValid)
            #expect(issued.payload["signedDate"] as? Int64 == now.milliseconds)
            let old = try SignedData(simulator.issueSigned(.sample(), signedAt: Timestamp(milliseconds: 5)))
            #expect(old.payload["signedDate"] as? Int64 == 5)
        }
    }

    @Test("The remote control teaches the App Store Server API")
    func controlsServerAPI() throws {
        try withSimulator { _, endpoints in
            let control = try endpoints.control()
            let key = try ServerAPIKey()
            let registration = Registration(.sample(.gems("7"), .sandbox))
            let orders: [(String, any Encodable)] = [
                ("/simulator/keys", KeyOrder(key)), ("/simulator/transactions", RegistrationOrder([registration])),
                ("/simulator/revocations", RevocationOrder(transactionId: "7", environment: .sandbox)),
            ]
            for (path, order) in orders {
                let json = String(decoding: try JSONEncoder().encode(order), as: UTF8.self)
                #expect(try control.send("POST", path, json).code == 204)
            }
            let token = try key.token(bundleID: "com.example.game", issuedAt: now)
            let answer = try endpoints.sandbox()
                .send("GET", "/inApps/v1/transactions/7", authorization: "Bearer \(token)")
            #expect(answer.transaction?["revocationDate"] as? Int64 == now.milliseconds)
        }
    }

    @Test("The remote control does what the Swift interface does")
    func controls() throws {
        try withSimulator { _, endpoints in
            let control = try endpoints.control()
            let json = String(
                decoding: try JSONEncoder().encode(ReceiptSpecification.sample([.gems("7")])), as: UTF8.self)
            let issued = try control.send("POST", "/simulator/receipts", json)
            let receipt = try #require(try members(issued.body)["receipt"] as? String)
            let script = "{\"transactions\":[{\"transactionId\":\"7\",\"faults\":[{\"status\":{\"code\":21005}}]}]}"
            #expect(try control.send("POST", "/simulator/scripts", script).code == 204)
            let client = try endpoints.production()
            #expect(try client.verify(receipt).status == 21005)
            #expect(try client.verify(receipt).status == 0)
        }
    }
}
