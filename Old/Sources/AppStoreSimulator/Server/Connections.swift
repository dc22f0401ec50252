import NIOCore
import Synchronization

/// The open connections of one or more listeners.
final class Connections: Sendable {
    /// There are as many as may be.
    struct TooMany: Error {}

    private let limit: Int
    private let changed: @Sendable (_ isOpened: Bool) -> Void
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    /// - Parameter changed: Told of every connection that opens or closes.
    init(limit: Int, changed: @escaping @Sendable (_ isOpened: Bool) -> Void) {
        self.limit = limit
        self.changed = changed
    }

    func add(_ channel: any Channel) throws(TooMany) {
        let id = ObjectIdentifier(channel)
        let isAdded = channels.withLock { channels in
            guard channels.count < limit else { return false }
            channels[id] = channel
            return true
        }
        guard isAdded else { throw TooMany() }
        changed(true)
        channel.closeFuture.whenComplete { _ in
            self.channels.withLock { $0[id] = nil }
            self.changed(false)
        }
    }

    /// Ends every connection without TLS's farewell, and returns when they are gone.
    func closeAll() async {
        for channel in channels.withLock({ Array($0.values) }) {
            channel.triggerUserOutboundEvent(AbruptClose.finish, promise: nil)
            // The future of a close tells how, and any way is right.
            try? await channel.closeFuture.get()
        }
    }
}
