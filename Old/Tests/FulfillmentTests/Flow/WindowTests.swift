import Testing

@testable import Fulfillment

@Suite("The window")
struct WindowTests {
    @Test("is full at its count or its bytes, whichever comes first")
    func limits() {
        var window = Window(maxCount: 2, maxBytes: 100)
        #expect(window.room?.count == 2 && window.room?.bytes == 100)
        window.admit(bytes: 99)
        #expect(window.room?.count == 1 && window.room?.bytes == 1)
        window.admit(bytes: 5_000)
        #expect(window.room == nil)
        _ = window.release(bytes: 99)
        #expect(window.room == nil)
        _ = window.release(bytes: 5_000)
        #expect(window.room?.count == 2)
    }

    @Test("wakes a reader once, when an eighth is free")
    func wakes() {
        var window = Window(maxCount: 16, maxBytes: 1_000)
        for _ in 0..<16 { window.admit(bytes: 1) }
        let woken = (0..<16).map { _ in window.release(bytes: 1) }
        #expect(woken == [false, true] + Array(repeating: false, count: 14))
    }

    @Test("lets fewer in while they would only wait, and wakes a reader when they would not any more")
    func lowered() {
        var window = Window(maxCount: 16, maxBytes: 1_000)
        _ = window.lower(to: 4)
        #expect(window.room?.count == 4)
        for _ in 0..<4 { window.admit(bytes: 1) }
        #expect(window.room == nil)
        let isWoken = window.lower(to: nil)
        #expect(isWoken)
        #expect(window.room?.count == 12)
        let isLowered = window.lower(to: 4)
        #expect(!isLowered)
        let woken = (0..<4).map { _ in window.release(bytes: 1) }
        #expect(woken == [true, false, false, false])
    }

    @Test("wakes a reader that waited at the lowered limit, however little was released before the limit is lifted")
    func lifted() {
        var window = Window(maxCount: 400, maxBytes: 1_000)
        _ = window.lower(to: 100)
        for _ in 0..<100 { window.admit(bytes: 1) }
        #expect(window.room == nil)
        let woken = (0..<3).map { _ in window.release(bytes: 1) }
        #expect(woken == [false, false, false], "not for single records")
        let isWoken = window.lower(to: nil)
        #expect(isWoken)
    }

    @Test("never leaves a reader waiting while an eighth of the limit is free", arguments: 0..<20)
    func neverAsleep(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var window = Window(maxCount: 64, maxBytes: 1_000)
        var limit = 64
        var isWaiting = false
        for _ in 0..<10_000 {
            // Who waits takes nothing in; who does not takes what there is room for.
            if !isWaiting, let room = window.room {
                for _ in 0..<Int.random(in: 0...room.count, using: &random) { window.admit(bytes: 1) }
            }
            if window.room == nil { isWaiting = true }
            if Int.random(in: 0..<10, using: &random) == 0 {
                let ceiling = Bool.random(using: &random) ? 16 : nil
                limit = ceiling ?? 64
                if window.lower(to: ceiling) { isWaiting = false }
            } else if window.count > 0, window.release(bytes: 1) {
                isWaiting = false
            }
            guard isWaiting else { continue }
            guard window.count > limit - limit / 8 else {
                #expect(window.count > limit - limit / 8, "asleep beside \(window.count) of \(limit)")
                return
            }
        }
    }
}
