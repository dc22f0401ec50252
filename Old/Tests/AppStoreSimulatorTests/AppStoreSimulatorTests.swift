import Foundation
import NIOHTTP1
import Purchases
import Testing

@testable import AppStoreSimulator

struct AppStoreSimulatorTests {
    @Test func aReceiptIsVerifiedOverTLS() async throws {
        try await withSimulator { simulator, endpoints in
            let answer = try await endpoints.production().verify(simulator.issue(.sample()))
            #expect(answer.code == 200)
            #expect(answer.headers["Content-Type"] == ["application/json"])
            #expect(answer.status == 0)
        }
    }

    @Test func aSandboxReceiptHopsFromProductionAndBack() async throws {
        try await withSimulator { simulator, endpoints in
            let sandbox = try simulator.issue(.sample([.gems()], .sandbox))
            let production = try simulator.issue(.sample())
            #expect(try await endpoints.production().verify(sandbox).status == 21007)
            #expect(try await endpoints.sandbox().verify(sandbox).status == 0)
            #expect(try await endpoints.sandbox().verify(production).status == 21008)
            #expect(try await endpoints.production().verify(production).status == 0)
        }
    }

    @Test func requestsThatAreNoneAreRefused() async throws {
        try await withSimulator({ $0.bodyLimit = 100 }) { simulator, endpoints in
            let client = try await endpoints.production()
            #expect(try await client.send(.GET).status == 21000)
            #expect(try await client.send(.POST, "/verifyReceipt", "receipt").status == 21000)
            #expect(try await client.send(.POST, "/verifyReceipt?x=1", "{}").status == 21002)
            #expect(try await client.send(.POST, "/other", "{}").code == 404)
            let tooLarge = try await client.verify(simulator.issue(.sample()))
            #expect(tooLarge.code == 413)
            #expect(tooLarge.headers["Connection"] == ["close"])
            #expect(simulator.statistics().production.refusals == [404: 1, 413: 1])
        }
    }

    @Test func aSecretIsAskedFor() async throws {
        try await withSimulator({ $0.acceptedSecrets = ["right"] }) { simulator, endpoints in
            let receipt = try simulator.issue(.sample([.month("1", original: "1", endsInDays: 9)]))
            let client = try await endpoints.production()
            #expect(try await client.verify(receipt).status == 21004)
            let body = "{\"receipt-data\":\"\(receipt)\",\"password\":\"right\"}"
            #expect(try await client.send(.POST, "/verifyReceipt", body).status == 0)
        }
    }

    @Test func aSimulatorComesBackToItsPorts() async throws {
        try await withSimulator { simulator, endpoints in
            let receipt = try simulator.issue(.sample())
            let before = try await endpoints.production()
            #expect(try await before.verify(receipt).status == 0)
            try await simulator.stop()
            await #expect(throws: (any Error).self) { try await before.verify(receipt) }
            await #expect(throws: (any Error).self) { try await endpoints.production() }
            #expect(try await simulator.start() == endpoints)
            #expect(try await endpoints.production().verify(receipt).status == 0)
            #expect(simulator.statistics().production.calls == 2)
        }
    }

    @Test func oneSimulatorRunsOnce() async throws {
        try await withSimulator { simulator, _ in
            await #expect(throws: SimulatorError.alreadyRunning) { try await simulator.start() }
        }
    }

    @Test func aTakenPortIsReportedAndNothingIsLeftOpen() async throws {
        try await withSimulator { _, endpoints in
            var configuration = AppStoreSimulator.Configuration()
            configuration.sandboxPort = try #require(endpoints.sandboxURL.port)
            let second = try AppStoreSimulator(
                authority: SimulatorAuthority.shared.get(), configuration: configuration, logger: .silent
            ) { now }
            await #expect(throws: SimulatorError.self) { try await second.start() }
            await #expect(throws: SimulatorError.self) { try await second.start() }
        }
    }

    @Test func simulatorsWithOneAuthorityAnswerAlike() async throws {
        try await withSimulator { first, _ in
            let receipt = try first.issue(.sample())
            try await withSimulator { _, endpoints in
                let answer = try await endpoints.production().verify(receipt)
                #expect(answer.status == 0)
            }
        }
    }

    @Test func aStrangersCertificateIsNotTrusted() async throws {
        let stranger = try SimulatorAuthority(now: Date()).serverRootPEM
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
        try Data(stranger.utf8).write(to: file)
        try await withSimulator { _, endpoints in
            let client = try await Client.connect(to: endpoints.productionURL, caFile: file)
            await #expect(throws: (any Error).self) { try await client.send() }
        }
        try FileManager.default.removeItem(at: file)
    }

    @Test func callsAreCounted() async throws {
        try await withSimulator { simulator, endpoints in
            let client = try await endpoints.production()
            for _ in 0..<3 { _ = try await client.verify(simulator.issue(.sample([.gems("7")]))) }
            simulator.behave(Behaviour(outage: .unavailable), in: [.production])
            #expect(try await client.verify("").code == 503)
            let statistics = try await endpoints.statistics { $0.production.calls == 4 }
            #expect(statistics.production.statuses == [0: 3])
            #expect(statistics.production.faults == ["unavailable": 1])
            #expect(statistics.callsByTransaction == ["7": 3])
            #expect(statistics.connectionsPeak == 1)
            #expect(statistics.inFlightPeak == 1)
            #expect(statistics.inFlight == 0)
        }
    }

    @Test func aSignedTransactionIsIssuedNow() async throws {
        try await withSimulator { simulator, _ in
            let issued = try SignedData(simulator.issueSigned(.sample(.gems("7"), .sandbox)))
            #expect(issued.isSignatureValid)
            #expect(issued.payload["signedDate"] as? Int64 == now.milliseconds)
            let old = try SignedData(simulator.issueSigned(.sample(), signedAt: Timestamp(milliseconds: 5)))
            #expect(old.payload["signedDate"] as? Int64 == 5)
        }
    }

    @Test func theRemoteControlTeachesTheServerAPI() async throws {
        try await withSimulator { _, endpoints in
            let control = try await endpoints.control()
            let key = ServerAPIKey()
            let registration = Registration(.sample(.gems("7"), .sandbox))
            let orders: [(String, any Encodable)] = [
                ("/simulator/keys", KeyOrder(key)), ("/simulator/transactions", RegistrationOrder([registration])),
                ("/simulator/revocations", RevocationOrder(transactionId: "7", environment: .sandbox)),
            ]
            for (path, order) in orders {
                let json = String(decoding: try JSONEncoder().encode(order), as: UTF8.self)
                #expect(try await control.send(.POST, path, json).code == 204)
            }
            let token = try key.token(bundleID: "com.example.game", issuedAt: now)
            let answer = try await endpoints.sandbox()
                .send(.GET, "/inApps/v1/transactions/7", authorization: "Bearer \(token)")
            #expect(answer.transaction?["revocationDate"] as? Int64 == now.milliseconds)
        }
    }

    @Test func theRemoteControlDoesWhatTheSwiftInterfaceDoes() async throws {
        try await withSimulator { _, endpoints in
            let control = try await endpoints.control()
            let json = String(
                decoding: try JSONEncoder().encode(ReceiptSpecification.sample([.gems("7")])), as: UTF8.self)
            let issued = try await control.send(.POST, "/simulator/receipts", json)
            let receipt = try #require(try members(issued.body)["receipt"] as? String)
            let script = "{\"transactions\":[{\"transactionId\":\"7\",\"faults\":[{\"status\":{\"code\":21005}}]}]}"
            #expect(try await control.send(.POST, "/simulator/scripts", script).code == 204)
            let client = try await endpoints.production()
            #expect(try await client.verify(receipt).status == 21005)
            #expect(try await client.verify(receipt).status == 0)
        }
    }
}
