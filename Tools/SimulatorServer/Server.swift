public import HTTPServer
internal import Scheduling
internal import Threading

/// An HTTP/1.1 server on one thread: epoll, thousands of connections, TLS if it has an identity.
///
/// It stands in for a service: faults of every kind are answers of its (``ServerAnswer``). Everything that a client can
/// hold is bounded, in number, bytes and time (``ServerConfiguration``), and requests are read strictly
/// (``RequestReader``). It serves until ``stop()``, or until nobody holds it any more.
///
///     let server = try Server(configuration) { request in
///         guard request.head.path == "/livez" else { return .reply(Reply(status: 404)) }
///         return .reply(Reply(status: 200, contentType: "text/plain", text: "ok\n"))
///     }
public final class Server: Sendable {
    /// The port that is listened on.
    public let port: Int
    private let end: WakeDescriptor
    private let thread: OwnerThread

    /// Binds the address and starts to serve.
    ///
    /// - Parameters:
    ///   - identity: the certificate to speak TLS with; nil for plain HTTP.
    ///   - handler: called on the server's thread for each request.
    /// - Throws: `ServerError`.
    public init(
        _ configuration: ServerConfiguration, identity: TLSIdentity? = nil,
        handler: @escaping @Sendable (Request) -> ServerAnswer
    ) throws(ServerError) {
        let listener = try Listener(host: configuration.host, port: configuration.port)
        port = listener.port
        do {
            let end = try WakeDescriptor()
            let resources = try ServerResources(listener: listener, identity: identity, end: end)
            self.end = end
            thread = try OwnerThread(name: configuration.threadName) {
                let context = ConnectionContext(configuration: configuration, handler: handler)
                ServerLoop(resources: resources, context: context).run()
            }
        } catch {
            throw .noResources(reason: error.description)
        }
    }

    deinit {
        end.signal()
    }

    /// Frees the port and ends every connection at once, without farewell. Returns when both are done. Not for
    /// handlers, which run on the thread that it waits for.
    public func stop() {
        end.signal()
        thread.join()
    }
}

/// The kernel's side of a server: made before the thread, so that a server that cannot start says so.
final class ServerResources: Sendable {
    let poller: Poller
    let listener: Listener
    let identity: TLSIdentity?
    /// Held until the thread has seen it: a descriptor that is closed before reports nothing.
    private let end: WakeDescriptor

    init(listener: Listener, identity: TLSIdentity?, end: WakeDescriptor) throws(ThreadingError) {
        poller = try Poller()
        self.listener = listener
        self.identity = identity
        self.end = end
        try poller.add(listener.descriptor, token: ServerLoop.listenerToken, for: .read)
        try poller.add(end.descriptor, token: ServerLoop.endToken, for: .read)
    }
}

/// Accepts connections, hands each its events, and keeps their deadlines. It lives on the server's thread.
final class ServerLoop {
    static let listenerToken = UInt64.max
    static let endToken = UInt64.max - 1
    /// Connections that are accepted in one turn.
    private static let maxAcceptsPerTurn = 64
    /// How long no connection is accepted once descriptors have run out; without it the loop would spin.
    private static let acceptPause = Duration.milliseconds(100)

    private struct Slot {
        var connection: Connection?
        /// Directions that the poller watches the connection for.
        var interest: Poller.Interest = .read
        /// Counts the slot's connections, so that a token names one only.
        var generation: UInt64 = 0
    }

    private let resources: ServerResources
    private let context: ConnectionContext
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var deadlines = DeadlineQueue()
    private var isAccepting = true
    /// When to accept again after descriptors have run out.
    private var acceptAt: Instant?

    init(resources: ServerResources, context: ConnectionContext) {
        self.resources = resources
        self.context = context
    }

    /// Serves until its stop is ordered; then every connection is closed.
    func run() {
        var readinesses: [Poller.Readiness] = []
        while true {
            let next = [deadlines.nextDue, acceptAt].compactMap { $0 }.min()
            resources.poller.wait(until: next, into: &readinesses)
            let now = Instant.now
            for readiness in readinesses {
                switch readiness.token {
                case Self.listenerToken: acceptAll(at: now)
                case Self.endToken:
                    for slot in slots { slot.connection?.close() }
                    return
                case let token: handle(.ready(readiness), of: token, at: now)
                }
            }
            while let slot = deadlines.popDue(at: now) {
                guard let connection = slots[slot].connection else { continue }
                run(connection, .deadline, at: now)
            }
            if let at = acceptAt, at <= now {
                acceptAt = nil
                setAccepting(true)
            }
        }
    }

    private func handle(_ event: Connection.Event, of token: UInt64, at now: Instant) {
        let slot = Self.slot(of: token)
        guard slot < slots.count, let connection = slots[slot].connection, connection.token == token else { return }
        run(connection, event, at: now)
    }

    private func run(_ connection: Connection, _ event: Connection.Event, at now: Instant) {
        connection.handle(event, at: now)
        let slot = Self.slot(of: connection.token)
        guard !connection.isClosed else { return remove(slot) }
        deadlines.set(slot, due: connection.deadline)
        guard slots[slot].interest != connection.interest else { return }
        slots[slot].interest = connection.interest
        do {
            try resources.poller.modify(connection.descriptor, token: connection.token, for: connection.interest)
        } catch {
            connection.close()
            remove(slot)
        }
    }

    // MARK: Accepting

    private func acceptAll(at now: Instant) {
        for _ in 0..<Self.maxAcceptsPerTurn {
            guard !isFull || oldestWaiting != nil else { return setAccepting(false) }
            switch resources.listener.accept() {
            case .connection(let descriptor):
                admit(descriptor, at: now)
            case .nobody:
                return
            case .exhausted:
                context.configuration.observe(.acceptingPaused)
                acceptAt = now + Self.acceptPause
                return setAccepting(false)
            }
        }
    }

    /// Lets a connection in. At the limit it replaces the connection that has been without a complete request for
    /// longest. Clients that never come to an end must not keep others out.
    private func admit(_ descriptor: Int32, at now: Instant) {
        guard let socket = Socket(descriptor, identity: resources.identity) else { return }
        if isFull, let oldest = oldestWaiting {
            oldest.close()
            remove(Self.slot(of: oldest.token))
        }
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        slots[slot].generation += 1
        let token = (slots[slot].generation & 0x7FFF_FFFF) << 32 | UInt64(slot)
        do {
            try resources.poller.add(descriptor, token: token, for: .read)
        } catch {
            freeSlots.append(slot)
            return socket.close()
        }
        let connection = Connection(token: token, socket: socket, context: context, now: now)
        slots[slot].connection = connection
        slots[slot].interest = .read
        deadlines.set(slot, due: connection.deadline)
    }

    private var isFull: Bool { slots.count - freeSlots.count >= context.configuration.maxConnections }

    /// The connection that has been without a complete request for longest; nil if all have one.
    private var oldestWaiting: Connection? {
        var oldest: Connection?
        var since = Instant.distantFuture
        for slot in slots {
            guard let connection = slot.connection, let waitingSince = connection.waitingSince, waitingSince < since
            else { continue }
            oldest = connection
            since = waitingSince
        }
        return oldest
    }

    private static func slot(of token: UInt64) -> Int { Int(token & 0xFFFF_FFFF) }

    private func remove(_ slot: Int) {
        guard slots[slot].connection != nil else { return }
        slots[slot].connection = nil
        freeSlots.append(slot)
        deadlines.remove(slot)
        // A place is free, for a client in the kernel's queue.
        if acceptAt == nil { setAccepting(true) }
    }

    private func setAccepting(_ isAccepting: Bool) {
        guard isAccepting != self.isAccepting else { return }
        do {
            try resources.poller.modify(
                resources.listener.descriptor, token: Self.listenerToken, for: isAccepting ? .read : [])
            self.isAccepting = isAccepting
        } catch {
            // Only memory can be missing; the next turn tries again.
        }
    }
}
