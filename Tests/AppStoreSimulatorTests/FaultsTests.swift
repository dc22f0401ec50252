import Contract
import Foundation
import HTTPClient
import Testing

@testable import AppStoreSimulator

/// Scripted faults as a client meets them.
@Suite(.timeLimit(.minutes(5)))
struct FaultsTests {
    /// Runs `body` with a client and a receipt that the faults strike.
    private func run<Value>(_ faults: [Fault], _ body: (Client, String) throws -> Value) throws -> Value {
        var value: Value?
        try withSimulator { simulator, endpoints in
            try simulator.script("7", faults)
            value = try body(endpoints.production(), simulator.issue(.sample([.gems("7")])))
        }
        return try #require(value)
    }

    @Test(
        "A connection that breaks is a failure, and the next call is answered",
        arguments: [Fault.cutOff, .reset, .close])
    func brokenConnection(fault: Fault) throws {
        try run([fault]) { client, receipt in
            let failure = try client.failure(verifying: receipt)
            #expect(failure.kind == .connectionLost)
            let answer = try client.verify(receipt)
            #expect(answer.status == 0)
        }
    }

    @Test("A call that hangs ends at the client's limit")
    func hangs() throws {
        try run([.delay(milliseconds: 0), .hang]) { client, receipt in
            // Opens the connection, so that the limit has only the exchange to cover.
            let answer = try client.verify(receipt)
            #expect(answer.status == 0)
            let failure = try client.failure(verifying: receipt, timeout: .seconds(2))
            #expect(failure.kind == .timedOut)
        }
    }

    @Test("Bodies arrive as the script says")
    func bodies() throws {
        let faults: [Fault] = [
            .truncated, .empty, .oversized(bytes: 5000), .html, .redirect(location: "https://127.0.0.1:1/"),
            .drip(bytes: 300, everyMilliseconds: 1), .http(code: 502), .rateLimited(retryAfter: "3"),
            .status(code: 21104, isRetryable: true), .withoutPurchases,
        ]
        try run(faults) { client, receipt in
            let whole = try run([]) { try $0.verify($1).body.count }
            let answers = try faults.map { _ in try client.verify(receipt) }
            #expect(answers.map(\.code) == [200, 200, 200, 200, 302, 200, 502, 429, 200, 200])
            #expect(abs(answers[0].body.count - whole / 2) <= 1)
            #expect(answers[1].body.isEmpty)
            #expect(answers[2].body.count == 5000)
            #expect(answers[4].header("Location") == "https://127.0.0.1:1/")
            #expect(answers[5].body.count == whole && answers[5].status == 0)
            #expect(answers[7].header("Retry-After") == "3")
            #expect(answers[8].status == 21104)
            #expect(answers[9].status == 0 && answers[9].body.count < whole)
        }
    }
}
