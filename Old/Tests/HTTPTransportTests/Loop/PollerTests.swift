import Synchronization
import Testing

@testable import HTTPTransport

/// That no call is missed. One that is leaves a thread asleep, and its test runs into the limit.
@Suite(.timeLimit(.minutes(5)))
struct PollerTests {
    @Test func `a call before a wait ends it, and only that`() async throws {
        let poller = try Poller()
        poller.wake()
        poller.wake()
        let second = await onOwnThread {
            poller.wait(milliseconds: -1) { _ in }
            let start = ContinuousClock.now
            poller.wait(milliseconds: 50) { _ in }
            return start.duration(to: .now)
        }
        // Nobody called since, so it lasts; a busy machine only makes it longer.
        #expect(try #require(second) >= .milliseconds(50))
    }

    @Test(arguments: [1, 4])
    func `whatever was done before a call is seen after a wait`(callers: Int) async throws {
        let poller = try Poller()
        let each = 20_000
        let done = Counter()
        async let last = onOwnThread {
            var seen = 0
            while seen < callers * each {
                poller.wait(milliseconds: -1) { _ in }
                seen = done.value.load(ordering: .acquiring)
            }
            return seen
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    for number in 0..<each {
                        done.value.add(1, ordering: .releasing)
                        poller.wake()
                        // Now and then everybody has slept in before the next call.
                        if number.isMultiple(of: 64) { await Task.yield() }
                    }
                }
            }
        }
        #expect(await last == callers * each)
    }

    private final class Counter: Sendable {
        let value = Atomic(0)
    }
}
