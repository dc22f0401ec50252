import Testing

@testable import Fulfillment

@Suite("Batch channel")
struct BatchChannelTests {
    @Test("hands out in order, no more than asked for, and ends when finished and empty")
    func order() async {
        let channel = BatchChannel<Int>()
        channel.put([1, 2, 3])
        channel.finish()
        #expect(channel.put([4]) == false)
        #expect(await channel.take(atMost: 2) == [1, 2])
        #expect(await channel.take(atMost: 2) == [3])
        #expect(await channel.take(atMost: 2) == nil)
    }

    @Test("loses nothing between many tasks and one")
    func concurrent() async {
        let channel = BatchChannel<Int>()
        let sum = await withTaskGroup(of: Int.self) { group in
            group.addTask {
                var sum = 0
                while let batch = await channel.take(atMost: 7) { sum += batch.reduce(0, +) }
                return sum
            }
            await withDiscardingTaskGroup { producers in
                for value in 1...2_000 { producers.addTask { channel.put([value]) } }
            }
            channel.finish()
            return await group.next() ?? 0
        }
        #expect(sum == 2_001_000)
    }

    @Test("gives every element to one of several takers, and lets all of them go at the end")
    func severalTakers() async {
        let channel = BatchChannel<Int>()
        let sum = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var sum = 0
                    while let batch = await channel.take(atMost: 3) { sum += batch.reduce(0, +) }
                    return sum
                }
            }
            group.addTask {
                for start in stride(from: 1, through: 2_000, by: 20) {
                    channel.put(Array(start..<start + 20))
                    await Task.yield()
                }
                channel.finish()
                return 0
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 2_001_000)
    }

    @Test("cancelling one taker leaves the elements to the others")
    func oneOfTwoCancelled() async {
        let channel = BatchChannel<Int>()
        let staying = Task { await channel.take(atMost: 1) }
        let leaving = Task { await channel.take(atMost: 1) }
        leaving.cancel()
        #expect(await leaving.value == nil)
        channel.put([1])
        #expect(await staying.value == [1])
    }

    @Test("lets a cancelled taker go")
    func cancelled() async {
        let channel = BatchChannel<Int>()
        let taker = Task { await channel.take(atMost: 1) }
        taker.cancel()
        #expect(await taker.value == nil)
    }
}
