internal import Glibc
internal import Scheduling
internal import Threading

/// The poller of all multi handles, and what is known of the sockets in it. Lives on the loop's thread only.
final class SocketWatcher {
    /// Something happened to a socket.
    struct Event {
        let descriptor: Int32
        /// The multi handle's place in its pool.
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
    /// Descriptors that the kernel had no room for, so far.
    private(set) var unwatched = 0

    /// - Parameters:
    ///   - wake: Ends ``wait(until:_:)``.
    ///   - maxAge: Of a connection.
    init(wake: WakeDescriptor, maxAge: Duration) throws(ThreadingError) {
        self.wake = wake
        poller = try Poller()
        try poller.add(wake.descriptor, token: Self.wakeToken, for: .read)
        idle = IdleSockets(maxAge: maxAge, seed: .random(in: 0 ... .max))
    }

    /// Watches a descriptor from now on. One that the kernel has no room for is counted (``unwatched``).
    ///
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
