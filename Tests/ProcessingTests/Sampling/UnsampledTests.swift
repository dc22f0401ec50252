import Contract
import Testing

@testable import Processing

@Suite("What a sample may not have seen")
struct UnsampledTests {
    private var unsampled = Unsampled<String>()

    private static func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

    @Test("stays until a sample comes that was taken after it, and asked for after it")
    mutating func stays() {
        unsampled.add("a", at: Self.time(50))
        unsampled.sampled(takenAt: Self.time(60))
        #expect(unsampled.contains("a"), "the sample was under way already")
        unsampled.sampling()
        for shared in [0, 45, 51] as [Int64] {
            unsampled.sampled(takenAt: Self.time(shared))
            #expect(unsampled.contains("a"))
        }
        unsampled.sampled(takenAt: Self.time(52))
        #expect(!unsampled.contains("a"))
    }

    @Test("counts from its latest time, and stands in the order in which it came first")
    mutating func again() {
        unsampled.add("b", at: Self.time(10))
        unsampled.add("a", at: Self.time(10))
        unsampled.add("b", at: Self.time(30))
        #expect(unsampled.keys == ["b", "a"])
        unsampled.sampling()
        unsampled.sampled(takenAt: Self.time(20))
        #expect(unsampled.keys == ["b"])
    }
}
