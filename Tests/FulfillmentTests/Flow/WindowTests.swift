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
}
