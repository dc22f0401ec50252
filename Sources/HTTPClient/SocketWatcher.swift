internal import Glibc
internal import Scheduling
internal import Threading

/// The poller of all multi handles, and the state of its sockets. Lives on the loop's thread only.
final class SocketWatcher {
    struct Event {
        let descriptor: Int32
        /// The multi handle's index in its pool.
        let owner: UInt32
        let canRead: Bool
        let canWrite: Bool
        let hasFailed: Bool
    }

    /// No descriptor has the number -1.
    private static let wakeToken = UInt64.max

    private let poller: Poller
    private let wake: WakeDescriptor
    private var readinesses: [Poller.Readiness] = []
    var idle: IdleSockets
    /// The clock that connections' lifetimes are counted by.
    let clock: () -> Instant
    /// Descriptors that the kernel has refused to watch so far.
    private(set) var unwatched = 0

    /// - Parameters:
    ///   - wake: Ends ``wait(until:_:)``.
    ///   - maxAge: Of a connection.
    init(
        wake: WakeDescriptor, maxAge: Duration, clock: @escaping () -> Instant = { .now }
    ) throws(ThreadingError) {
        self.wake = wake
        self.clock = clock
        poller = try Poller()
        try poller.add(wake.descriptor, token: Self.wakeToken, for: .read)
        idle = IdleSockets(maxAge: maxAge, seed: .random(in: 0 ... .max))
    }

    /// Watches a descriptor from now on. A descriptor that the kernel refuses is counted (``unwatched``).
    /// - Parameter owner: Reported with it.
    func watch(_ descriptor: Int32, owner: UInt32, read: Bool, write: Bool) {
        var interest: Poller.Interest = []
        if read { interest.insert(.read) }
        if write { interest.insert(.write) }
        let token = UInt64(owner) << 32 | UInt64(UInt32(bitPattern: descriptor))
        do throws(ThreadingError) {
            try poller.modify(descriptor, token: token, for: interest)
        } catch .notWatched(ENOENT) {
            // Not known, or known and closed since, which the kernel forgets by itself.
            do throws(ThreadingError) {
                try poller.add(descriptor, token: token, for: interest)
            } catch {
                unwatched += 1
            }
        } catch {
            unwatched += 1
        }
    }

    /// Watches a descriptor no more; one that is closed already is no error.
    func forget(_ descriptor: Int32) { poller.remove(descriptor) }

    /// Sleeps until a socket is ready, the wake descriptor is signalled, or an instant has come; reports the sockets.
    func wait(until deadline: Instant?, _ report: (Event) -> Void) {
        idle.beginBatch()
        poller.wait(until: deadline, into: &readinesses)
        for readiness in readinesses {
            guard readiness.token != Self.wakeToken else {
                wake.drain()
                continue
            }
            report(
                Event(
                    descriptor: Int32(bitPattern: UInt32(truncatingIfNeeded: readiness.token)),
                    owner: UInt32(readiness.token >> 32), canRead: readiness.canRead, canWrite: readiness.canWrite,
                    hasFailed: readiness.hasFailed))
        }
    }
}

/// Sockets that libcurl has stopped watching and the poller still watches, mostly of connections between two requests.
/// The next request then needs one call to the kernel instead of three.
///
/// A poller has one value for the sockets of all multi handles. Only sockets that libcurl made and has not closed can
/// be idle. The number of another descriptor, such as the resolver's, may be reused before an event on it is handled.
/// Before 8.3 libcurl closes an unconnected socket without notice
/// ([curl 11439](https://github.com/curl/curl/pull/11439)), and then reports it as idle. So an event that was fetched
/// before its socket became idle is ignored. A true event comes again, and the kernel reports nothing of closed
/// sockets.
///
/// It also knows the lifetime of each connection.
struct IdleSockets {
    private struct Known {
        let expires: Instant
        /// The batch of events in which it became idle; nil while it is in use.
        var idleSince: UInt64?
    }

    private let maxAge: Duration
    private var random: SplitMix64
    /// By descriptor: they are small numbers, and nothing is as cheap to look up.
    private var sockets: [Known?] = []
    private var batch: UInt64 = 0
    private(set) var count = 0

    /// - Parameters:
    ///   - maxAge: Lifetimes are drawn between half of it and all of it.
    ///   - seed: Where they are drawn from.
    init(maxAge: Duration, seed: UInt64) {
        self.maxAge = maxAge
        random = SplitMix64(seed: seed)
    }

    func contains(_ descriptor: Int32) -> Bool { socket(descriptor)?.idleSince != nil }

    /// Whether it became idle since the events were fetched that are acted on now.
    func isNew(_ descriptor: Int32) -> Bool { socket(descriptor)?.idleSince == batch }

    /// Whether the connection should not outlive its next request.
    func isExpired(_ descriptor: Int32, at now: Instant) -> Bool {
        socket(descriptor).map { $0.expires <= now } ?? false
    }

    /// Events are about to be fetched.
    mutating func beginBatch() { batch += 1 }

    /// The socket is idle from now on.
    /// - Returns: false for a descriptor that is no socket of libcurl's.
    @discardableResult
    mutating func insert(_ descriptor: Int32) -> Bool {
        guard let socket = socket(descriptor) else { return false }
        if socket.idleSince == nil { count += 1 }
        sockets[Int(descriptor)]?.idleSince = batch
        return true
    }

    /// The socket is in use from now on.
    /// - Returns: whether it was idle.
    @discardableResult
    mutating func remove(_ descriptor: Int32) -> Bool {
        guard contains(descriptor) else { return false }
        sockets[Int(descriptor)]?.idleSince = nil
        count -= 1
        return true
    }

    /// libcurl made a socket, whatever else had its number.
    mutating func made(_ descriptor: Int32, at now: Instant) {
        guard descriptor >= 0 else { return }
        remove(descriptor)
        let place = Int(descriptor)
        if place >= sockets.count { sockets += Array(repeating: nil, count: place + 1 - sockets.count) }
        let nanoseconds = maxAge.clampedNanoseconds
        let lifetime = Duration.nanoseconds(Int64.random(in: nanoseconds / 2...nanoseconds, using: &random))
        sockets[place] = Known(expires: now + lifetime, idleSince: nil)
    }

    /// libcurl is about to close a socket.
    mutating func closed(_ descriptor: Int32) {
        guard socket(descriptor) != nil else { return }
        remove(descriptor)
        sockets[Int(descriptor)] = nil
    }

    private func socket(_ descriptor: Int32) -> Known? {
        sockets.indices.contains(Int(descriptor)) ? sockets[Int(descriptor)] : nil
    }
}
