import Foundation
import NIOHTTP1
import Purchases
import Testing

@testable import AppStoreSimulator

/// What clients see when a script strikes.
struct ConnectionHandlerTests {
    @Test func connectionsAreKeptAlive() async throws {
        try await withSimulator { simulator, endpoints in
            let receipt = try simulator.issue(.sample())
            let client = try await endpoints.production()
            for _ in 0..<20 { #expect(try await client.verify(receipt).status == 0) }
            #expect(simulator.statistics().connectionsPeak == 1)
        }
    }

    @Test func aScriptIsPlayedBeforeTheAnswer() async throws {
        try await withSimulator { simulator, endpoints in
            let receipt = try simulator.issue(.sample([.gems("7")]))
            try simulator.script(
                "7",
                [
                    .http(code: 500), .html, .empty, .oversized(bytes: 3_000_000), .rateLimited(retryAfter: "2"),
                    .redirect(location: "/x"), .status(code: 21002), .withoutPurchases,
                ])
            let client = try await endpoints.production()
            #expect(try await client.verify(receipt).code == 500)
            #expect(String(decoding: try await client.verify(receipt).body, as: UTF8.self).hasPrefix("<!DOCTYPE"))
            #expect(try await client.verify(receipt).body.isEmpty)
            #expect(try await client.verify(receipt).body.count == 3_000_000)
            #expect(try await client.verify(receipt).headers["Retry-After"] == ["2"])
            #expect(try await client.verify(receipt).headers["Location"] == ["/x"])
            #expect(try await client.verify(receipt).status == 21002)
            let without = try members(try await client.verify(receipt).body)["receipt"] as? [String: Any]
            #expect((without?["in_app"] as? [Any])?.isEmpty == true)
            #expect(try await client.verify(receipt).status == 0)
        }
    }

    @Test func halfAnAnswerIsFramedOrBrokenOff() async throws {
        try await withSimulator { simulator, endpoints in
            let receipt = try simulator.issue(.sample([.gems("7")]))
            try simulator.script("7", [.truncated, .cutOff])
            let client = try await endpoints.production()
            let truncated = try await client.verify(receipt)
            #expect(truncated.headers["Content-Length"] == [String(truncated.body.count)])
            #expect(throws: (any Error).self) { try members(truncated.body) }
            let broken = await #expect(throws: Client.BrokenOff.self) { try await client.verify(receipt) }
            let received = try #require(broken?.received)
            #expect(Int(received.headers["Content-Length"][0]) ?? 0 > received.body.count)
            #expect(!received.body.isEmpty)
        }
    }

    @Test func connectionsAreResetAndClosed() async throws {
        try await withSimulator { simulator, endpoints in
            let receipt = try simulator.issue(.sample([.gems("7")]))
            try simulator.script("7", [.reset, .close])
            let first = try await endpoints.production()
            let reset = await #expect(throws: Client.BrokenOff.self) { try await first.verify(receipt) }
            #expect(reset?.isReset == true)
            let second = try await endpoints.production()
            let closed = await #expect(throws: Client.BrokenOff.self) { try await second.verify(receipt) }
            #expect(closed?.isReset == false)
            #expect(closed?.received == nil)
        }
    }

    @Test func answersAreDelayedByTimers() async throws {
        try await withSimulator { simulator, endpoints in
            simulator.behave(Behaviour(latency: .fixed(milliseconds: 60)))
            let receipt = try simulator.issue(.sample())
            try await withThrowingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask { try await endpoints.production().verify(receipt).status }
                }
                for try await status in group { #expect(status == 0) }
            }
            #expect(simulator.statistics().production.statuses == [0: 50])

            // All of them wait at once, on few threads.
            simulator.behave(Behaviour(latency: .fixed(milliseconds: 3_600_000)))
            var clients: [Client] = []
            for _ in 0..<50 { clients.append(try await endpoints.production()) }
            let waiting = clients.map { client in Task { try await client.verify(receipt) } }
            #expect(try await endpoints.statistics { $0.inFlight == 50 }.inFlight == 50)
            for client in clients { await client.close() }
            for task in waiting { await #expect(throws: Client.BrokenOff.self) { try await task.value } }
        }
    }

    @Test func anAnswerDripsWhole() async throws {
        try await withSimulator { simulator, endpoints in
            let receipt = try simulator.issue(.sample([.gems("7")]))
            try simulator.script("7", [.drip(bytes: 200, everyMilliseconds: 1)])
            let client = try await endpoints.production()
            let dripped = try await client.verify(receipt)
            #expect(dripped.status == 0)
            #expect(try await client.verify(receipt).body.count == dripped.body.count)
        }
    }

    @Test func aCallHangsUntilTheClientGivesUp() async throws {
        try await withSimulator { simulator, endpoints in
            let receipt = try simulator.issue(.sample([.gems("7")]))
            try simulator.script("7", [.hang])
            let client = try await endpoints.production()
            let hanging = Task { try await client.verify(receipt) }
            #expect(try await endpoints.statistics { $0.inFlight == 1 }.inFlight == 1)
            await client.close()
            await #expect(throws: Client.BrokenOff.self) { try await hanging.value }
            #expect(try await endpoints.statistics { $0.inFlight == 0 }.inFlight == 0)
        }
    }

    @Test func curlIsAskedForALongBodyAtOnce() async throws {
        try await withSimulator { simulator, endpoints in
            let body = "{\"receipt-data\":\"\(try simulator.issue(.sample(targetSize: 1_500_000)))\"}"
            let result = try withTemporaryFolder { folder in
                let file = folder.appending(path: "body")
                try Data(body.utf8).write(to: file)
                return try run(
                    "/usr/bin/curl",
                    [
                        "--silent", "--verbose", "--http1.1", "--cacert", endpoints.caFile.path, "--data-binary",
                        "@\(file.path)", endpoints.productionURL.absoluteString,
                    ])
            }
            #expect(result.status == 0)
            #expect(result.output.contains("100 Continue"))
            #expect(result.output.contains("\"status\":0"))
        }
    }

    @Test func anOutageComesAndGoes() async throws {
        try await withSimulator { simulator, endpoints in
            let receipt = try simulator.issue(.sample())
            let client = try await endpoints.production()
            simulator.behave(Behaviour(outage: .unavailable))
            #expect(try await client.verify(receipt).code == 503)
            simulator.behave(Behaviour())
            #expect(try await client.verify(receipt).status == 0)
            simulator.behave(Behaviour(outage: .closed))
            await #expect(throws: Client.BrokenOff.self) { try await client.verify(receipt) }
            simulator.clearScripts()
            #expect(try await endpoints.production().verify(receipt).status == 0)
        }
    }
}
