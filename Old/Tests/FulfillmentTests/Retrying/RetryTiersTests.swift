import AppStore
import AppStoreSimulator
import Ledger
import Purchases
import Testing

@testable import Fulfillment

/// Trouble with Apple's answers that ends some time.
struct Trouble: Sendable, CustomTestStringConvertible {
    let name: String
    /// The first replies about a submission, by its number.
    var first: @Sendable (_ submission: Int) -> [AppStoreReply] = { _ in [] }
    /// What becomes of a call.
    var answer: @Sendable (_ elapsed: Duration, _ call: Int) -> OutageBench.Answer = { _, _ in .usual }
    /// All must be granted by then.
    let limit: Duration

    var testDescription: String { name }

    static func status(_ code: Int) -> AppStoreReply {
        .response(httpStatus: 200, retryAfter: nil, body: Array(#"{"status":\#(code)}"#.utf8))
    }

    private static let minute = Duration.seconds(60)

    static let all = [
        Trouble(
            name: "a fifth of the calls is answered with 21005 for a minute",
            answer: { elapsed, call in elapsed < minute && call % 5 == 0 ? .reply(status(21005)) : .usual },
            limit: minute),
        Trouble(
            name: "a fifth of the submissions is answered with 21005, six times each",
            // Once nothing else is asked for, what is left looks like an outage, and is probed.
            first: { $0 % 5 == 0 ? Array(repeating: status(21005), count: 6) : [] }, limit: .seconds(1800)),
        Trouble(
            name: "real receipts are called malformed (21002) six times each",
            first: { $0 % 5 == 0 ? Array(repeating: status(21002), count: 6) : [] }, limit: .seconds(180)),
        Trouble(
            name: "429 with Retry-After, again and again",
            answer: { elapsed, _ in
                let isStorm = elapsed < .seconds(120) && elapsed.components.seconds % 30 < 3
                return isStorm
                    ? .reply(.response(httpStatus: 429, retryAfter: "5", body: [])) : .usual
            }, limit: .seconds(180)),
        Trouble(
            name: "answers drip in for fifteen seconds each, for a minute",
            answer: { elapsed, _ in elapsed < minute ? .slow(.seconds(15)) : .usual }, limit: .seconds(180)),
        Trouble(
            name: "up and down every two seconds, for two minutes",
            answer: { elapsed, _ in
                elapsed < .seconds(120) && elapsed.components.seconds / 2 % 2 == 1
                    ? .reply(.response(httpStatus: 503, retryAfter: nil, body: [])) : .usual
            }, limit: .seconds(240)),
        Trouble(
            name: "nothing is heard for a minute in the middle",
            answer: { elapsed, _ in
                elapsed > .seconds(3) && elapsed < .seconds(63) ? .reply(.failed(.timedOut)) : .usual
            }, limit: .seconds(180)),
    ]
}

@Suite("The tiers of retrying, through the pipeline", .timeLimit(.minutes(10)))
struct RetryTiersTests {
    private static let submissions = 500

    /// Most calls that so many submissions may cost within a time.
    private static func budget(_ submissions: Int, _ elapsed: Duration) -> Double {
        let policy = AvailabilityPolicy()
        let burst = max(policy.retries.leastBurst, Double(OutageBench.inFlight) * policy.retries.burstShare)
        let seconds = elapsed / .seconds(1)
        // Probes are beside the budget: a few at a time, after a pause that begins with half a second.
        let probes = Double(policy.breaker.probes) * seconds * 2
        return Double(submissions) * (1 + policy.retries.share) + burst * (1 + seconds) + probes
    }

    @Test(
        "whatever the trouble, all ends granted in time, and the calls stay within the budget",
        arguments: Trouble.all)
    func trouble(trouble: Trouble) async throws {
        let outage = try await OutageBench(answer: trouble.answer)
        outage.bench.source.write(
            try (0..<Self.submissions).map { number in
                let receipt = try outage.bench.appStore.receipt(first: trouble.first(number)).base64
                return PipelineBench.message("s-\(number)", receipt: receipt)
            })
        let end = try await outage.run(untilDecided: Self.submissions)
        let counts = try await outage.bench.ledger.counts()
        #expect(counts.grants == Self.submissions)
        #expect(counts.submissions == [.granted: Self.submissions])
        #expect(end <= trouble.limit, "\(end)")
        #expect(outage.bench.source.committed == Int64(Self.submissions))
        let calls = outage.calls.value.count
        #expect(Double(calls) <= Self.budget(Self.submissions, end), "\(calls) calls in \(end)")
        #expect(outage.bench.appStore.peak <= OutageBench.inFlight)
    }

    @Test(
        "a transaction that Apple does not know yet waits in the ledger, and is asked for again until it does"
    )
    func notFoundYet() async throws {
        let appears = Duration.seconds(900)
        let outage = try await OutageBench(
            app: { try .withKey($0) },
            lookup: { elapsed in
                elapsed < appears
                    ? .response(httpStatus: 404, retryAfter: nil, body: Array(#"{"errorCode":4040010}"#.utf8)) : nil
            })
        let store = outage.bench.appStore
        outage.bench.source.write(
            try (0..<5).map { number in
                let signed = try store.signedTransaction()
                store.answer(about: signed.transactionID, with: signed.text)
                return PipelineBench.message("s-\(number)", evidence: #""transactionId":"\#(signed.transactionID)""#)
            })
        let committed = Shared(Duration?.none)
        let decided = Shared(Duration.zero)
        try await outage.run { bench, elapsed in
            if bench.source.committed == 5 { committed.change { $0 = $0 ?? elapsed } }
            decided.change { $0 = elapsed }
            return try await bench.ledger.counts().grants == 5
        }
        let held = try #require(committed.value)
        #expect(held < .seconds(20), "no offset is held for what takes long: \(held)")
        // Behind the moment by no more than a delay that has doubled nine times, with half of the jitter.
        #expect(decided.value < appears + .seconds(512), "\(decided.value)")
        // Two environments are asked each time, about thirteen times.
        #expect(outage.calls.value.count < 5 * 2 * 18, "\(outage.calls.value.count) calls")
    }

    /// Plays submissions that share a few purchases, with a poisoned one among them or without.
    ///
    /// - Returns: when all others were settled, and for how long the watermark stood at the poisoned one.
    private func play(poisonAt place: Int?, _ count: Int) async throws -> (end: Duration, held: Duration, OutageBench) {
        let outage = try await OutageBench(inFlight: 100)
        let receipts = try (0..<50).map { _ in try outage.bench.appStore.receipt().base64 }
        var messages = (0..<count).map { PipelineBench.message("s-\($0)", receipt: receipts[$0 % 50]) }
        if let place {
            let poison = try outage.bench.appStore.receipt(
                first: Array(repeating: Trouble.status(21009), count: 1000))
            messages.insert(PipelineBench.message("poison", receipt: poison.base64), at: place)
        }
        outage.bench.source.write(messages)
        let seen = Shared((reached: Duration?.none, passed: Duration?.none, end: Duration.zero))
        try await outage.run { bench, elapsed in
            let committed = Int(bench.source.committed ?? 0)
            seen.change {
                if committed >= place ?? 0 { $0.reached = $0.reached ?? elapsed }
                if committed > place ?? 0 { $0.passed = $0.passed ?? elapsed }
                $0.end = elapsed
            }
            return bench.pipeline.status.settledRecords >= count
        }
        let found = seen.value
        return (found.end, try #require(found.passed) - (try #require(found.reached)), outage)
    }

    @Test("one submission that always fails costs ten thousand others nothing, and its offset is held for seconds")
    func poison() async throws {
        let count = 10_000
        let (without, _, _) = try await play(poisonAt: nil, count)
        let (with, held, outage) = try await play(poisonAt: count / 2, count)
        #expect(with / without <= 1.05, "\(with) instead of \(without)")
        // Four calls, and 0.2, 0.4 and 0.8 s at most between them.
        #expect(held < .seconds(3), "the first tier: \(held)")
        let counts = try await outage.bench.ledger.counts()
        #expect(counts.submissions[.parked] == 1)
        #expect(counts.submissions[.granted] ?? 0 >= count - 1)
        #expect(counts.failures.isEmpty)
    }

    @Test("a submission older than the configured age fails with its reason and its tries; others do not notice")
    func maxAge() async throws {
        let outage = try await OutageBench(retry: RetryPolicy(maxAge: .seconds(3600)))
        let always = try outage.bench.appStore.receipt(first: Array(repeating: Trouble.status(21009), count: 1000))
        outage.bench.source.write([
            PipelineBench.message("old", receipt: always.base64, more: #","transactionId":"77""#)
        ])
        try outage.submit(20)
        let end = try await outage.run(untilDecided: 21)
        #expect(end >= .seconds(3600) && end < .seconds(3600 + 900))
        let row = try #require(
            try await outage.bench.ledger.submissions(SubmissionFilter(submissionID: "old"), before: nil, limit: 1)
                .first)
        #expect(row.outcome == .failed)
        #expect(row.reason == FailureReason.abandonedByOperator.rawValue)
        #expect(row.detail?.hasPrefix("Older than the configured maximum age.") == true)
        #expect(row.transactionID == "77", "it is found by the transaction that it claims")
        #expect(row.history.attempts.count == row.attempts && row.attempts > 8)
        #expect(try await outage.bench.ledger.counts().grants == 20)
    }
}
