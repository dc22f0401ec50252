import Logging
import Purchases
import Testing

@testable import Fulfillment

@Suite("Calls to Apple, shared between tasks")
struct AppleAvailabilityTests {
    private static let target = CallTarget.verifyReceipt(.production)

    private func availability(mostCalls: Int) -> AppleAvailability {
        AppleAvailability(
            targets: [Self.target], policy: AvailabilityPolicy(), mostCalls: mostCalls, clock: SystemClock(),
            randomness: FixedRandomness(), metrics: AvailabilityMetrics(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("never more at once than the bound, and everybody in the end")
    func bound() async {
        let apple = availability(mostCalls: 3)
        let counts = Shared((now: 0, peak: 0, total: 0))
        await withDiscardingTaskGroup { group in
            for _ in 0..<500 {
                group.addTask {
                    guard let permit = await apple.turn(for: Self.target, .first, .topic).permit else { return }
                    counts.change {
                        $0.now += 1
                        $0.peak = max($0.peak, $0.now)
                    }
                    await Task.yield()
                    counts.change {
                        $0.now -= 1
                        $0.total += 1
                    }
                    apple.ended(permit, .answered, isRetry: false, took: .milliseconds(1))
                }
            }
        }
        #expect(counts.value.peak <= 3)
        #expect(counts.value.total == 500)
        #expect(apple.status == AppleStatus(waiting: 0, inFlight: 0, away: [], holdsIntake: false, holdsDue: false))
    }

    @Test("a cancelled waiter is let go without a permit, and the next one gets it")
    func cancelled() async {
        let apple = availability(mostCalls: 1)
        let held = await apple.turn(for: Self.target, .first, .topic).permit
        let waiter = Task { await apple.turn(for: Self.target, .first, .topic).permit }
        waiter.cancel()
        #expect(await waiter.value == nil)
        if let held { apple.ended(held, .answered, isRetry: false, took: .zero) }
        #expect(await apple.turn(for: Self.target, .first, .topic).permit != nil)
    }

    @Test("closing sends away who waits, and who comes after")
    func closed() async {
        let apple = availability(mostCalls: 1)
        let held = await apple.turn(for: Self.target, .first, .topic).permit
        #expect(held != nil)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { await apple.turn(for: Self.target, .first, .topic).permit == nil } }
            while apple.status.waiting < 20 { await Task.yield() }
            apple.close()
            for await isSentAway in group { #expect(isSentAway) }
        }
        #expect(await apple.turn(for: Self.target, .again, .topic).permit == nil)
    }

    @Test("who waits for a moment is let go when it comes, though nothing else happens")
    func moments() async {
        let clock = VirtualClock()
        let apple = AppleAvailability(
            targets: [Self.target], policy: AvailabilityPolicy(), mostCalls: 1, clock: clock,
            randomness: FixedRandomness(), metrics: AvailabilityMetrics(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        if let permit = await apple.turn(for: Self.target, .first, .topic).permit {
            apple.ended(permit, .limited(wait: .seconds(7)), isRetry: false, took: .zero)
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: clock.executor) { await apple.keepTime() }
            let waiter = Task(executorPreference: clock.executor) {
                await apple.turn(for: Self.target, .first, .topic).permit
            }
            group.addTask { while !Task.isCancelled { await clock.step() } }
            #expect(await waiter.value != nil)
            group.cancelAll()
        }
        #expect(clock.elapsed() == .seconds(7))
    }
}
