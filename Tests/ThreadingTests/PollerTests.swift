import Glibc
import Scheduling
import Testing

@testable import Threading

@Suite(.timeLimit(.minutes(5)))
struct PollerTests {
    /// Both ends of a connection, closed with it.
    private final class Pair {
        let near: Int32
        private var far: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            (near, far) = (ends[0], ends[1])
        }

        deinit {
            close(near)
            hangUp()
        }

        func send(_ bytes: [UInt8]) { _ = write(far, bytes, bytes.count) }

        func hangUp() {
            if far >= 0 { close(far) }
            far = -1
        }
    }

    @Test("Readiness comes with the descriptor's token and directions")
    func readiness() throws {
        let poller = try Poller()
        let pair = try Pair()
        var ready: [Poller.Readiness] = []
        try poller.add(pair.near, token: .max, for: .read)
        poller.wait(until: .now, into: &ready)
        #expect(ready.isEmpty)

        pair.send([1])
        poller.wait(until: nil, into: &ready)
        #expect(ready == [Poller.Readiness(token: .max, canRead: true, canWrite: false, hasFailed: false)])

        try poller.modify(pair.near, token: 7, for: [.read, .write])
        poller.wait(until: nil, into: &ready)
        #expect(ready == [Poller.Readiness(token: 7, canRead: true, canWrite: true, hasFailed: false)])

        try poller.modify(pair.near, token: 7, for: [])
        poller.wait(until: .now, into: &ready)
        #expect(ready.isEmpty)
    }

    @Test("A connection that the other side closed has failed, whatever is watched")
    func hangUp() throws {
        let poller = try Poller()
        let pair = try Pair()
        try poller.add(pair.near, token: 1, for: [])
        pair.hangUp()
        var ready: [Poller.Readiness] = []
        poller.wait(until: nil, into: &ready)
        #expect(ready.map(\.hasFailed) == [true])
    }

    @Test("A descriptor that is removed or closed is reported no more")
    func removed() throws {
        let poller = try Poller()
        var pair: Pair? = try Pair()
        let other = try Pair()
        try poller.add(try #require(pair).near, token: 1, for: .write)
        try poller.add(other.near, token: 2, for: .write)
        poller.remove(other.near)
        poller.remove(other.near)
        pair = nil
        var ready: [Poller.Readiness] = []
        poller.wait(until: .now, into: &ready)
        #expect(ready.isEmpty)
    }

    @Test("What cannot be watched is an error")
    func unwatchable() throws {
        let poller = try Poller()
        let pair = try Pair()
        let file = open("/proc/self/stat", O_RDONLY)
        defer { close(file) }
        // A descriptor that nobody opens.
        #expect(throws: ThreadingError.notWatched(errno: EBADF)) { try Self.add(1 << 20, to: poller) }
        #expect(throws: ThreadingError.notWatched(errno: EPERM)) { try Self.add(file, to: poller) }
        try Self.add(pair.near, to: poller)
        #expect(throws: ThreadingError.notWatched(errno: EEXIST)) { try Self.add(pair.near, to: poller) }
        #expect(ThreadingError.notWatched(errno: EEXIST).description == "a descriptor cannot be watched: File exists")
    }

    private static func add(_ descriptor: Int32, to poller: borrowing Poller) throws {
        try poller.add(descriptor, token: 0, for: .read)
    }

    @Test("More events than one wait reports come with the next")
    func manyEvents() throws {
        let poller = try Poller()
        let pairs = try (0..<300).map { _ in try Pair() }
        for (index, pair) in pairs.enumerated() {
            pair.send([1])
            try poller.add(pair.near, token: UInt64(index), for: .read)
        }
        var seen: Set<UInt64> = []
        var ready: [Poller.Readiness] = []
        while seen.count < pairs.count {
            poller.wait(until: nil, into: &ready)
            #expect(ready.count <= Poller.maxEventsPerWait)
            seen.formUnion(ready.map(\.token))
        }
    }

    @Test("A wait lasts until its deadline, and a wake descriptor ends it")
    func deadline() throws {
        let poller = try Poller()
        let wake = try WakeDescriptor()
        try poller.add(wake.descriptor, token: 0, for: .read)
        var ready: [Poller.Readiness] = []
        let deadline = Instant.now + .microseconds(20_100)
        poller.wait(until: deadline, into: &ready)
        #expect(ready.isEmpty)
        // Not before it: a busy machine only makes it longer.
        #expect(Instant.now >= deadline)

        let thread = try OwnerThread(name: "signaller") { wake.signal() }
        poller.wait(until: .distantFuture, into: &ready)
        #expect(ready.map(\.token) == [0])
        wake.drain()
        thread.join()
        poller.wait(until: .now, into: &ready)
        #expect(ready.isEmpty)
    }
}
