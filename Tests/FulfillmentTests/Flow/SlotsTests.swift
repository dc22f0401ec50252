import Synchronization
import Testing

@testable import Fulfillment

@Suite("Slots")
struct SlotsTests {
    private final class Occupancy: Sendable {
        private let counts = Mutex((now: 0, peak: 0, total: 0))

        var peak: Int { counts.withLock { $0.peak } }
        var total: Int { counts.withLock { $0.total } }

        func enter() {
            counts.withLock {
                $0.now += 1
                $0.peak = max($0.peak, $0.now)
            }
        }

        func leave() {
            counts.withLock {
                $0.now -= 1
                $0.total += 1
            }
        }
    }

    @Test("never lets more in than there are, and everybody in the end")
    func limit() async {
        let slots = Slots(3)
        let occupancy = Occupancy()
        await withDiscardingTaskGroup { group in
            for _ in 0..<500 {
                group.addTask {
                    _ = await slots.withSlot {
                        occupancy.enter()
                        await Task.yield()
                        occupancy.leave()
                    }
                }
            }
        }
        #expect(occupancy.peak <= 3)
        #expect(occupancy.total == 500)
    }

    @Test("lets a cancelled waiter go without its slot, and gives the slot to the next")
    func cancelled() async {
        let slots = Slots(1)
        let release = Signal()
        await withTaskGroup(of: Bool.self) { group in
            let holding = Signal()
            group.addTask {
                await slots.withSlot {
                    holding.raise(); await release.wait(); return true
                } ?? false
            }
            await holding.wait()
            let waiter = Task { await slots.withSlot { true } ?? false }
            waiter.cancel()
            #expect(await waiter.value == false)
            release.raise()
            #expect(await group.next() == true)
            #expect(await slots.withSlot { true } == true)
        }
    }
}
