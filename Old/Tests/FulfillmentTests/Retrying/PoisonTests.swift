import AppStore
import AppStoreSimulator
import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("Submissions that Apple never answers, beside those of a quiet worker", .timeLimit(.minutes(5)))
struct PoisonTests {
    private static let poisoned = 30
    /// How often something new comes that Apple answers.
    private static let interval = Duration.seconds(10)
    private static let end = Duration.seconds(600)

    /// What became of those that are answered, and when Apple was taken to be away.
    private struct Story {
        var submitted: [Duration] = []
        var granted: [Duration] = []
        var awayUntil = Duration.zero
        var poisonSubmitted = 0

        /// How long each waited that came after a moment.
        func waits(after moment: Duration) -> [Duration] {
            zip(submitted, granted).filter { $0.0 > moment }.map { $0.1 - $0.0 }
        }
    }

    @Test(
        "they stop nobody for longer than a minute: what is new is granted at once, and they are parked",
        arguments: [(apart: Duration.zero, awayFor: Duration.seconds(60)), (apart: interval, awayFor: .zero)])
    func quiet(apart: Duration, awayFor: Duration) async throws {
        let outage = try await OutageBench(inFlight: 64)
        let store = outage.bench.appStore
        let poison = try (0..<Self.poisoned).map { number in
            let replies = Array(repeating: Trouble.status(21005), count: 2000)
            return PipelineBench.message("poison-\(number)", receipt: try store.receipt(first: replies).base64)
        }
        let story = Shared(Story())
        try await outage.run { bench, elapsed in
            var new: [[UInt8]?] = []
            while story.value.poisonSubmitted < poison.count, apart * story.value.poisonSubmitted <= elapsed {
                new.append(poison[story.value.poisonSubmitted])
                story.change { $0.poisonSubmitted += 1 }
            }
            if elapsed >= Self.interval * (story.value.submitted.count + 1) {
                let receipt = try store.receipt().base64
                new.append(PipelineBench.message("s-\(story.value.submitted.count)", receipt: receipt))
                story.change { $0.submitted.append(elapsed) }
            }
            if !new.isEmpty { bench.source.write(new) }
            let grants = try await bench.ledger.counts().grants
            story.change { story in
                while story.granted.count < grants { story.granted.append(elapsed) }
                if bench.pipeline.status.appleIsAway { story.awayUntil = elapsed }
            }
            return elapsed > Self.end
        }
        let waits = story.value.waits(after: .seconds(60))
        #expect(waits.count > 50)
        #expect(waits.max() ?? .zero < .seconds(3), "\(waits)")
        let first = story.value.waits(after: .zero)
        #expect(first.max() ?? .zero < .seconds(30), "\(first.prefix(6))")
        #expect(story.value.awayUntil <= awayFor, "the trouble ends: \(story.value.awayUntil)")
        let counts = try await outage.bench.ledger.counts()
        #expect(counts.submissions[.parked] == Self.poisoned, "they are counted, and give their places back")
        #expect(counts.failures.isEmpty)
    }
}
