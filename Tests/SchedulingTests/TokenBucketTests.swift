import Scheduling
import Testing

@Suite("A token bucket")
struct TokenBucketTests {
    private static let start = Instant(nanoseconds: 0)

    @Test("has a burst at once, then so many a second, and never more than its burst")
    func bound() {
        var bucket = TokenBucket(burst: 4, perSecond: 2)
        expect(4, of: &bucket, .zero)
        expect(0, of: &bucket, .milliseconds(250))
        expect(3, of: &bucket, .milliseconds(1500))
        expect(4, of: &bucket, .seconds(3600))
    }

    @Test("adds nothing for time that goes back, nor twice for the time after it")
    func back() {
        var bucket = TokenBucket(burst: 4, perSecond: 2)
        expect(4, of: &bucket, .seconds(10))
        expect(0, of: &bucket, .seconds(5))
        #expect(bucket.tokens == 0)
        expect(0, of: &bucket, .seconds(10))
        expect(2, of: &bucket, .seconds(11))
    }

    @Test("takes what is added up to its burst, and never goes below none")
    func added() {
        var bucket = TokenBucket(burst: 4, perSecond: 2)
        bucket.add(1)
        #expect(bucket.tokens == 4)
        bucket.add(-0.5)
        #expect(bucket.tokens == 3.5)
        bucket.add(-9)
        #expect(bucket.tokens == 0)
        bucket.add(1)
        expect(1, of: &bucket, .zero)
    }

    @Test("that changes gives back nothing of what was used, and keeps no more than its new burst")
    func changed() {
        var bucket = TokenBucket(burst: 2, perSecond: 2)
        expect(2, of: &bucket, .zero)
        bucket.change(burst: 10, perSecond: 10)
        expect(0, of: &bucket, .zero)
        expect(5, of: &bucket, .milliseconds(500))
        bucket.add(9)
        bucket.change(burst: 1, perSecond: 1)
        expect(1, of: &bucket, .milliseconds(500))
    }

    @Test("has a token at the moment that it says, and not before", arguments: [0.3, 7, 50])
    func moment(perSecond: Double) {
        var bucket = TokenBucket(burst: 1, perSecond: perSecond)
        expect(1, of: &bucket, .seconds(1))
        let moment = bucket.nextMoment - Self.start
        expect(0, of: &bucket, moment - .milliseconds(2))
        expect(1, of: &bucket, moment)
    }

    /// Takes all tokens that there are then.
    private func expect(
        _ count: Int, of bucket: inout TokenBucket, _ elapsed: Duration, _ location: SourceLocation = #_sourceLocation
    ) {
        var taken = 0
        while bucket.take(at: Self.start + elapsed) { taken += 1 }
        #expect(taken == count, sourceLocation: location)
    }
}
