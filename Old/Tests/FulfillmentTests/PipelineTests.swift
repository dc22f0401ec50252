import AppStore
import Foundation
import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("The pipeline", .timeLimit(.minutes(5)))
struct PipelineTests {
    private func body(_ text: String) -> AppStoreReply {
        .response(httpStatus: 200, retryAfter: nil, body: Array(text.utf8))
    }

    @Test("grants each purchase once, publishes its event and commits behind it")
    func grants() async throws {
        let bench = try await PipelineBench()
        bench.source.write(
            try (0..<200).map { PipelineBench.message("s-\($0)", receipt: try bench.appStore.receipt().base64) })
        try await bench.run(untilSettled: 200)
        #expect(try await bench.ledger.counts().grants == 200)
        #expect(Set(bench.sink.events.map(\.id)).count == 200)
        #expect(bench.source.committed == 200)
        #expect(bench.source.isClosed)
        #expect(bench.appStore.peak <= 16)
    }

    @Test("waits for Apple's answers where Apple's endpoint wants that")
    func executor() async throws {
        let executor = CountingExecutor()
        let bench = try await PipelineBench(executor: executor) { try .withKey($0) }
        let purchases = try (0..<20).map { _ in try bench.appStore.signedTransaction() }
        for purchase in purchases { bench.appStore.answer(about: purchase.transactionID, with: purchase.text) }
        bench.source.write(
            purchases.map {
                PipelineBench.message("\($0.transactionID)", evidence: #""transactionId":"\#($0.transactionID)""#)
            })
        try await bench.run(untilSettled: 20)
        #expect(try await bench.ledger.counts().grants == 20)
        #expect(executor.steps >= 20)
    }

    @Test("looks again, at what does not wait for Apple, where all tasks run")
    func lookingAgain() async throws {
        let executor = CountingExecutor()
        let bench = try await PipelineBench(executor: executor)
        // The app has no key for the App Store Server API.
        bench.source.write([PipelineBench.message("s", evidence: #""transactionId":"2000000123456789""#)])
        try await bench.run(untilSettled: 1)
        let counts = try await bench.ledger.counts()
        #expect(counts.submissions == [.held: 1])
        #expect(executor.steps == 0)
    }

    @Test("answers every kind of record")
    func everyKind() async throws {
        let bench = try await PipelineBench()
        let good = try bench.appStore.receipt().base64
        bench.source.write([
            PipelineBench.message("granted", receipt: good), nil, Array("{".utf8),
            PipelineBench.message("malformed", receipt: good, more: #","orderId":7"#),
            PipelineBench.message("garbage", receipt: "AAAA"),
            Array(#"{"submissionId":"unknown","userId":"u","bundleId":"com.example.none","receipt":"AAAA"}"#.utf8),
            PipelineBench.message("forged", evidence: #""signedTransaction":"e30.e30.AAAA""#),
            PipelineBench.message("thief", user: "v", receipt: good),
        ])
        try await bench.run(untilSettled: 8)
        let counts = try await bench.ledger.counts()
        #expect(counts.submissions == [.granted: 1, .failed: 5])
        #expect(
            counts.failures == [
                .malformedSubmission: 1, .receiptMalformed: 1, .unknownApp: 1, .ownedByAnotherUser: 1,
                .signatureInvalid: 1,
            ])
        #expect(counts.quarantined == 2)
        #expect(bench.source.committed == 8)
    }

    @Test("keeps trying while Apple cannot answer, and fails nobody for it")
    func transient() async throws {
        let bench = try await PipelineBench()
        let faults: [AppStoreReply] = [
            .failed(.unreachable), .failed(.timedOut), .response(httpStatus: 503, retryAfter: nil, body: []),
            body("<html>"), body(#"{"status":21005}"#), body(#"{"status":21009}"#), body(#"{"status":0"#),
        ]
        bench.source.write(
            try (0..<70).map {
                PipelineBench.message(
                    "s-\($0)", receipt: try bench.appStore.receipt(first: [faults[$0 % 7], faults[$0 % 5]]).base64)
            })
        try await bench.run(untilSettled: 70)
        #expect(try await bench.ledger.counts().grants == 70)
        #expect(bench.appStore.calls == 210)
    }

    @Test("holds what our own configuration is at fault for, until it is mended")
    func held() async throws {
        let bench = try await PipelineBench()
        let refused = body(#"{"status":21004}"#)
        bench.source.write([
            PipelineBench.message("s", receipt: try bench.appStore.receipt(first: [refused, refused, refused]).base64)
        ])
        try await bench.run { try await $0.ledger.counts().grants == 1 }
        let row = try await bench.ledger.submissions(SubmissionFilter(), before: nil, limit: 1)[0]
        #expect(row.history.attempts.map(\.cause) == Array(repeating: "sharedSecretRefused", count: 3))
        #expect(row.attempts == 4)
    }

    @Test("goes on with other purchases while one trouble after another would fill the window")
    func crowded() async throws {
        var configuration = PipelineConfiguration(maxInFlight: 4, maxWindowCount: 16)
        configuration.retry = RetryPolicy(doubtWindow: .seconds(1_000_000))
        let bench = try await PipelineBench(configuration: configuration)
        let refused = Array(repeating: body(#"{"status":21004}"#), count: 100_000)
        var messages: [[UInt8]?] = []
        for index in 0..<30 {
            messages.append(
                PipelineBench.message("held-\(index)", receipt: try bench.appStore.receipt(first: refused).base64))
            messages.append(
                PipelineBench.message(
                    "doubtful-\(index)", receipt: try bench.appStore.receipt().base64, more: #","transactionId":"7""#))
        }
        messages.append(PipelineBench.message("honest", receipt: try bench.appStore.receipt().base64))
        bench.source.write(messages)
        try await bench.run { try await $0.ledger.counts().grants == 1 }
        let counts = try await bench.ledger.counts()
        #expect(counts.submissions[.held] ?? 0 > 0)
        #expect(counts.failures.isEmpty, "nobody fails because there is a crowd")
    }

    @Test("commits nothing beyond a record that has no outcome yet")
    func offsets() async throws {
        let gate = Gate()
        let bench = try await PipelineBench(gate: gate)
        bench.source.write([
            nil, PipelineBench.message("slow", receipt: try bench.appStore.receipt().base64), nil, nil,
        ])
        try await bench.run { bench in
            guard bench.pipeline.status.settledRecords >= 3 else { return false }
            if bench.pipeline.status.settledRecords == 3 { #expect(bench.source.committed ?? 0 <= 1) }
            gate.open()
            return bench.source.committed == 4
        }
        #expect(bench.source.committed == 4)
    }

    @Test("lets no more in than the window holds, however much waits")
    func window() async throws {
        let gate = Gate()
        let bench = try await PipelineBench(
            gate: gate, configuration: PipelineConfiguration(maxInFlight: 4, maxWindowCount: 20))
        bench.source.write(
            try (0..<300).map { PipelineBench.message("s-\($0)", receipt: try bench.appStore.receipt().base64) })
        try await bench.run { bench in
            #expect(bench.pipeline.status.heldSubmissions <= 20)
            #expect(bench.source.ahead <= 300)
            if bench.pipeline.status.heldSubmissions == 20 { gate.open() }
            return bench.pipeline.status.settledRecords == 300
        }
        #expect(bench.appStore.peak <= 4)
        #expect(bench.source.committed == 300)
    }

    @Test("gives a partition up while the window is full, without waiting for Apple")
    func revocation() async throws {
        let gate = Gate()
        let bench = try await PipelineBench(
            gate: gate, configuration: PipelineConfiguration(maxInFlight: 4, maxWindowCount: 4))
        bench.source.write(
            [nil] + (try (0..<8).map { PipelineBench.message("s-\($0)", receipt: try bench.appStore.receipt().base64) })
        )
        try await bench.run { bench in
            if bench.pipeline.status.partitions.isEmpty, bench.source.committed == 1 {
                gate.open()
                return true
            }
            if bench.pipeline.status.heldSubmissions == 4, bench.source.committed == 1 { bench.source.revoke() }
            return false
        }
        #expect(bench.source.committed == 1)
    }

    @Test("survives a ledger that is away, and one that does its work and says it failed")
    func flakyLedger() async throws {
        let bench = try await PipelineBench()
        bench.flaky.fail(before: 3, after: 3)
        bench.source.write(
            try (0..<50).map { PipelineBench.message("s-\($0)", receipt: try bench.appStore.receipt().base64) })
        try await bench.run(untilSettled: 50)
        #expect(try await bench.ledger.counts().grants == 50)
        #expect(Set(bench.sink.events.map(\.id)).count == 50)
    }

    @Test("publishes again, byte for byte, what was not acknowledged")
    func unacknowledged() async throws {
        let bench = try await PipelineBench()
        bench.sink.refuse(4)
        bench.source.write(
            try (0..<20).map { PipelineBench.message("s-\($0)", receipt: try bench.appStore.receipt().base64) })
        try await bench.run(untilSettled: 20)
        let copies = Dictionary(grouping: bench.sink.events, by: \.id)
        #expect(copies.count == 20)
        #expect(copies.values.allSatisfy { Set($0).count == 1 })
        #expect(bench.sink.events.count > 20)
    }

    @Test("answers a replay from the ledger without asking Apple")
    func replay() async throws {
        let bench = try await PipelineBench()
        let messages = try (0..<40).map {
            PipelineBench.message("s-\($0)", receipt: try bench.appStore.receipt().base64)
        }
        bench.source.write(messages)
        try await bench.run(untilSettled: 40)
        let again = try await PipelineBench(ledger: bench.ledger)
        again.source.write(messages)
        try await again.run(untilSettled: 40)
        #expect(again.appStore.calls == 0)
        #expect(Set(again.sink.events) == Set(bench.sink.events))
        #expect(try await again.ledger.counts().grants == 40)
    }

    @Test("told to stop, it finishes what is under way, if the limit allows, and publishes it")
    func stop() async throws {
        let gate = Gate()
        var configuration = PipelineConfiguration(maxInFlight: 4)
        configuration.stopLimit = .seconds(1_000_000)
        let bench = try await PipelineBench(gate: gate, configuration: configuration)
        bench.source.write([nil, PipelineBench.message("slow", receipt: try bench.appStore.receipt().base64)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await bench.run { $0.pipeline.status.settledRecords == 1 && $0.appStore.calls == 1 }
            }
            // The scripted call cannot be cancelled, so it is let go once the source was told to close.
            group.addTask {
                while !bench.pipeline.status.isStopping { try await Task.sleep(for: .milliseconds(2)) }
                gate.open()
            }
            try await group.waitForAll()
        }
        #expect(bench.source.isClosed)
        #expect(bench.pipeline.status.settledRecords == 2)
        #expect(try await bench.ledger.counts().unpublished == 0)
    }

    @Test("ends with an error when the ledger cannot be trusted any more")
    func damaged() async throws {
        let bench = try await PipelineBench()
        bench.source.write([PipelineBench.message("s", receipt: try bench.appStore.receipt().base64)])
        try await bench.ledger.close()
        await #expect(throws: (any Error).self) { try await bench.pipeline.run() }
        #expect(bench.source.isClosed)
    }

    @Test("ends with an error when one part of the ledger alone is damaged", arguments: FlakyLedger.Work.allCases)
    func damagedInPart(work: FlakyLedger.Work) async throws {
        let bench = try await PipelineBench()
        bench.flaky.damage(work)
        bench.source.write([PipelineBench.message("s", receipt: try bench.appStore.receipt().base64)])
        await #expect(throws: LedgerError.damaged("scripted")) { try await bench.pipeline.run() }
        #expect(bench.source.isClosed)
    }
}
