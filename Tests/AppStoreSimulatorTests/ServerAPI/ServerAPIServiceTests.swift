import Contract
import Foundation
import HTTPClient
import Testing

@testable import AppStoreSimulator

/// The App Store Server API as a client sees it.
struct ServerAPIServiceTests {
    private let key: ServerAPIKey

    init() throws {
        key = try ServerAPIKey()
    }

    @Test("A transaction is answered signed")
    func signed() throws {
        try withSimulator(accept) { simulator, endpoints in
            try simulator.register(.gems("7"), bundleID: "com.example.game", environment: .production)
            let answer = try get("/inApps/v1/transactions/7", from: endpoints.production())
            #expect(answer.code == 200)
            #expect(answer.header("Content-Type") == "application/json")
            let signed = try SignedData(#require(try members(answer.body)["signedTransactionInfo"] as? String))
            let roots = try String(contentsOfFile: endpoints.rootsFile, encoding: .utf8)
            let authority = try SimulatorAuthority.shared.get()
            #expect(roots == authority.receiptRootPEM + authority.signedDataRootPEM)
            #expect(signed.isSignatureValid)
            #expect(signed.isTrusted(by: authority.signedDataChain.root))
            #expect(signed.payload["transactionId"] as? String == "7")
            #expect(signed.payload["signedDate"] as? Int64 == now.milliseconds)
            #expect(simulator.statistics().production.errorCodes == [0: 1])
            #expect(simulator.statistics().callsByTransaction == ["7": 1])
        }
    }

    @Test("Production and sandbox know their own")
    func environments() throws {
        try withSimulator(accept) { simulator, endpoints in
            try simulator.register(.gems("7"), bundleID: "com.example.game", environment: .sandbox)
            let missing = try get("/inApps/v1/transactions/7", from: endpoints.production())
            #expect(missing.code == 404)
            #expect(missing.errorCode == 4_040_010)
            let found = try get("/inApps/v1/transactions/7", from: endpoints.sandbox())
            #expect(found.transaction?["environment"] as? String == "Sandbox")
        }
    }

    @Test("Calls without a good token are unauthenticated")
    func noToken() throws {
        try withSimulator(accept) { simulator, endpoints in
            let client = try endpoints.production()
            let path = "/inApps/v1/transactions/7"
            let strange = try ServerAPIKey().token(bundleID: "com.example.game", issuedAt: now)
            for authorization in [nil, "Bearer \(strange)", "Bearer x"] {
                let answer = try client.send("GET", path, authorization: authorization)
                #expect(answer.code == 401)
                #expect(answer.header("Content-Type") == "text/plain")
                #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("Unauthenticated"))
            }
            #expect(simulator.statistics().production.refusals == [401: 3])
        }
    }

    @Test("A key may be accepted later")
    func lateKey() throws {
        try withSimulator { simulator, endpoints in
            let client = try endpoints.production()
            #expect(try get("/inApps/v1/transactions/7", from: client).code == 401)
            try simulator.accept(key)
            #expect(try get("/inApps/v1/transactions/7", from: client).code == 404)
            let other = try ServerAPIKey()
            try simulator.acceptKey(issuerID: other.issuerID, keyID: other.keyID, publicKeyPEM: other.publicKeyPEM)
            let token = try other.token(bundleID: "com.example.game", issuedAt: now)
            let answer = try client.send("GET", "/inApps/v1/transactions/7", authorization: "Bearer \(token)")
            #expect(answer.code == 404)
            #expect(throws: SimulatorError.keyUnusable) {
                try simulator.acceptKey(issuerID: "i", keyID: "k", publicKeyPEM: "none")
            }
        }
    }

    @Test(
        "Calls that are none are refused",
        arguments: [
            ("GET", "/inApps/v1/transactions/abc", 400, 4_000_006),
            ("GET", "/inApps/v1/transactions/%2e%2e", 400, 4_000_006),
            ("GET", "/inApps/v1/transactions/7/finish", 404, nil), ("POST", "/inApps/v1/transactions/7", 405, nil),
            ("GET", "/inApps/v2/history/7?sort=UP", 400, 4_000_021),
            ("GET", "/inApps/v1/subscriptions/7?status=9", 400, 4_000_031),
            ("GET", "/inApps/v1/subscriptions/7", 404, 4_040_010),
        ])
    func refused(method: String, path: String, code: Int, errorCode: Int?) throws {
        try withSimulator(accept) { _, endpoints in
            let token = try key.token(bundleID: "com.example.game", issuedAt: now)
            let answer = try endpoints.production()
                .send(method, path, authorization: "Bearer \(token)")
            #expect(answer.code == code)
            #expect(answer.errorCode == errorCode)
        }
    }

    @Test("An app that is not there is not found")
    func noApp() throws {
        try withSimulator({
            accept(&$0)
            $0.apps = ["com.example.other"]
        }) { _, endpoints in
            let answer = try get("/inApps/v1/transactions/7", from: endpoints.production())
            #expect(answer.code == 404)
            #expect(answer.errorCode == 4_040_003)
        }
    }

    @Test("A fresh transaction is found after a while")
    func delay() throws {
        try withSimulator(accept) { simulator, endpoints in
            try simulator.register(Registration(.sample(.gems("7")), appearance: .afterCalls(count: 2)))
            let client = try endpoints.production()
            for _ in 0..<2 {
                #expect(try get("/inApps/v1/transactions/7", from: client).errorCode == 4_040_010)
            }
            #expect(try get("/inApps/v1/transactions/7", from: client).transaction != nil)
        }
    }

    @Test("A refund shows in the next answer")
    func refund() throws {
        try withSimulator(accept) { simulator, endpoints in
            try simulator.register(.gems("7"), bundleID: "com.example.game", environment: .production)
            let client = try endpoints.production()
            #expect(try get("/inApps/v1/transactions/7", from: client).transaction?["revocationDate"] == nil)
            #expect(simulator.revoke("7", in: .production, at: now))
            let answer = try get("/inApps/v1/transactions/7", from: client)
            #expect(answer.transaction?["revocationDate"] as? Int64 == now.milliseconds)
            simulator.clearTransactions()
            #expect(try get("/inApps/v1/transactions/7", from: client).code == 404)
        }
    }

    @Test("A history comes in pages")
    func pages() throws {
        try withSimulator(accept) { simulator, endpoints in
            for number in 1...21 {
                try simulator.register(Registration(.sample(.gems(.init("\(number)")), customer: "c")))
            }
            let client = try endpoints.production()
            let first = try members(try get("/inApps/v2/history/5", from: client).body)
            #expect(first["bundleId"] as? String == "com.example.game")
            #expect(first["environment"] as? String == "Production")
            #expect(first["appAppleId"] as? Int == 1_234_567_890)
            #expect(first["hasMore"] as? Bool == true)
            #expect(try ids(first) == (1...20).map { "\($0)" })
            let revision = try #require(first["revision"] as? String)
            let second = try members(try get("/inApps/v2/history/5?revision=\(revision)", from: client).body)
            #expect(second["hasMore"] as? Bool == false)
            #expect(try ids(second) == ["21"])
        }
    }

    @Test("Subscriptions have their status")
    func statuses() throws {
        try withSimulator(accept) { simulator, endpoints in
            let purchases: [SimulatedPurchase] = [
                .month("1", original: "1", endsInDays: -29), .month("2", original: "1", endsInDays: 1),
                .month("3", original: "3", endsInDays: -1), .gems("4"),
            ]
            for purchase in purchases { try simulator.register(Registration(.sample(purchase, customer: "c"))) }
            let client = try endpoints.production()
            let all = try lastTransactions("/inApps/v1/subscriptions/4", from: client)
            #expect(all.map { $0["originalTransactionId"] as? String } == ["1", "3"])
            #expect(all.map { $0["status"] as? Int } == [1, 2])
            let signed = try SignedData(#require(all[0]["signedTransactionInfo"] as? String))
            let renewal = try SignedData(#require(all[0]["signedRenewalInfo"] as? String))
            #expect(signed.payload["transactionId"] as? String == "2")
            #expect(renewal.payload["autoRenewStatus"] as? Int == 1)
            #expect(renewal.isSignatureValid)
            let expired = try lastTransactions("/inApps/v1/subscriptions/4?status=2&status=5", from: client)
            #expect(expired.map { $0["originalTransactionId"] as? String } == ["3"])
        }
    }

    @Test("Limits are enforced")
    func limits() throws {
        try withSimulator({
            accept(&$0)
            $0.rateLimits = [RateLimit(calls: 2, window: .seconds(1))]
        }) { simulator, endpoints in
            let client = try endpoints.production()
            for _ in 0..<2 { #expect(try get("/inApps/v1/transactions/7", from: client).code == 404) }
            let limited = try get("/inApps/v1/transactions/7", from: client)
            #expect(limited.code == 429)
            #expect(limited.errorCode == 4_290_000)
            #expect(limited.header("Retry-After") == "\(now.milliseconds + 1000)")
            #expect(simulator.statistics().production.errorCodes == [4_040_010: 2, 4_290_000: 1])
        }
    }

    @Test("A script is played before the answer")
    func script() throws {
        try withSimulator(accept) { simulator, endpoints in
            try simulator.register(.gems("7"), bundleID: "com.example.game", environment: .production)
            try simulator.script(
                "7",
                [
                    .apiError(code: 5_000_000), .apiError(code: 5_000_001), .rateLimited(retryAfter: "1795237154000"),
                    .http(code: 401), .html, .truncated, .drip(bytes: 500, everyMilliseconds: 1), .withoutPurchases,
                    .delay(milliseconds: 1), .reset,
                ])
            let client = try endpoints.production()
            let path = "/inApps/v1/transactions/7"
            #expect(try get(path, from: client).errorCode == 5_000_000)
            #expect(try get(path, from: client).errorCode == 5_000_001)
            let limited = try get(path, from: client)
            #expect(limited.errorCode == 4_290_000)
            #expect(limited.header("Retry-After") == "1795237154000")
            #expect(try get(path, from: client).code == 401)
            #expect(String(decoding: try get(path, from: client).body, as: UTF8.self).hasPrefix("<!DOCTYPE"))
            let truncated = try get(path, from: client).body
            #expect(throws: (any Error).self) { try members(truncated) }
            #expect(try get(path, from: client).transaction?["transactionId"] as? String == "7")
            #expect(try get(path, from: client).errorCode == 4_040_010)
            #expect(try get(path, from: client).transaction != nil)
            // On a connection that was not used before: libcurl asks again where a kept one breaks.
            let other = try endpoints.production()
            #expect(throws: HTTPFailure.self) { try get(path, from: other) }
            #expect(simulator.statistics().production.errorCodes == [0: 3, 4_040_010: 1])
        }
    }

    private func accept(_ configuration: inout SimulatorConfiguration) {
        configuration.serverAPIKeys = [key]
    }

    private func get(_ path: String, from client: Client) throws -> Client.Answer {
        let token = try key.token(bundleID: "com.example.game", issuedAt: now)
        return try client.send("GET", path, authorization: "Bearer \(token)")
    }

    private func ids(_ history: [String: Any]) throws -> [String] {
        try (history["signedTransactions"] as? [String] ?? [])
            .compactMap { try SignedData($0).payload["transactionId"] as? String }
    }

    private func lastTransactions(_ path: String, from client: Client) throws -> [[String: Any]] {
        let body = try members(try get(path, from: client).body)
        let groups = body["data"] as? [[String: Any]] ?? []
        return groups.flatMap { $0["lastTransactions"] as? [[String: Any]] ?? [] }
    }
}
