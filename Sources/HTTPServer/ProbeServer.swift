internal import CLinux
internal import Glibc
internal import Scheduling
internal import Threading

/// Makes the replies of a server, for one thread.
public protocol RequestHandler {
    /// Called with the requests that have come since the last call, at least one. Nobody else is served meanwhile.
    /// - Returns: A reply for each, in their order.
    mutating func replies(to heads: [RequestHead]) -> [Reply]
    /// The reply to bytes that are no request.
    func refusal(_ status: Int) -> Reply
}

/// Answers short questions over plain HTTP/1.1: one thread, epoll, one request per connection, no bodies.
///
/// Its clients may be slow, broken or hostile. A connection lives for ``connectionTime`` at most. At ``maxConnections``
/// a new connection replaces the oldest one, so nobody keeps others out. The server runs until ``stop()``, or until
/// nobody holds it any more.
///
///     let server = try ProbeServer(host: "127.0.0.1", port: 8080) { head in
///         head.path == "/livez" ? Reply(status: 200) : Reply(status: 404)
///     }
public final class ProbeServer: Sendable {
    /// Most connections at once; a further one ends the oldest.
    public static let maxConnections = 1024
    /// For a client to send its request, to take the answer and to close its side.
    static let connectionTime = Duration.seconds(10)

    /// The port that is listened on.
    public let port: Int
    private let end: WakeDescriptor
    private let thread: OwnerThread

    /// Binds the address and starts to serve.
    /// - Parameters:
    ///   - host: an address of this machine or a name of one; `0.0.0.0` and `::` are all of them.
    ///   - port: zero for any that is free.
    ///   - make: makes the handler, on the server's thread, which it never leaves.
    /// - Throws: ``ServerError``.
    public convenience init(
        host: String, port: Int, making make: @escaping @Sendable () -> any RequestHandler
    ) throws(ServerError) {
        try self.init(host: host, port: port, connectionTime: Self.connectionTime, making: make)
    }

    /// Binds the address and starts to serve.
    /// - Parameters:
    ///   - host: an address of this machine or a name of one; `0.0.0.0` and `::` are all of them.
    ///   - port: zero for any that is free.
    ///   - handler: called on the server's thread for each request; it answers at once.
    /// - Throws: ``ServerError``.
    public convenience init(
        host: String, port: Int, handler: @escaping @Sendable (RequestHead) -> Reply
    ) throws(ServerError) {
        try self.init(host: host, port: port, connectionTime: Self.connectionTime, handler: handler)
    }

    /// - Parameter exhausted: called on the server's thread when a connection cannot be accepted for want of
    ///   descriptors or memory.
    convenience init(
        host: String, port: Int, connectionTime: Duration, exhausted: @escaping @Sendable () -> Void = {},
        handler: @escaping @Sendable (RequestHead) -> Reply
    ) throws(ServerError) {
        try self.init(host: host, port: port, connectionTime: connectionTime, exhausted: exhausted) {
            FunctionHandler(function: handler)
        }
    }

    init(
        host: String, port: Int, connectionTime: Duration, exhausted: @escaping @Sendable () -> Void = {},
        making make: @escaping @Sendable () -> any RequestHandler
    ) throws(ServerError) {
        let listener = try Listener(host: host, port: port)
        self.port = listener.port
        do {
            let end = try WakeDescriptor()
            let sockets = try ProbeSockets(listener: listener, end: end)
            self.end = end
            thread = try OwnerThread(name: "server") {
                ProbeLoop(
                    sockets: sockets, connectionTime: connectionTime, exhausted: exhausted, handler: make()
                ).run()
            }
        } catch {
            throw .noResources(reason: error.description)
        }
    }

    deinit { end.signal() }

    /// Frees the port and ends every connection at once. Returns when both are done. Not for the handler, which runs on
    /// the thread that it waits for.
    public func stop() {
        end.signal()
        thread.join()
    }
}

/// A handler without anything of its own.
private struct FunctionHandler: RequestHandler {
    let function: @Sendable (RequestHead) -> Reply

    func replies(to heads: [RequestHead]) -> [Reply] { heads.map(function) }
    func refusal(_ status: Int) -> Reply { .refusal(status) }
}

/// The kernel's side of a server: made before the thread, so that a server that cannot start says so.
private final class ProbeSockets: Sendable {
    static let listenerToken = UInt64.max
    static let endToken = UInt64.max - 1

    let poller: Poller
    let listener: Listener
    /// Held until the thread has seen it: a descriptor that is closed before reports nothing.
    private let end: WakeDescriptor

    init(listener: Listener, end: WakeDescriptor) throws(ThreadingError) {
        poller = try Poller()
        self.listener = listener
        self.end = end
        try poller.add(listener.descriptor, token: Self.listenerToken, for: .read)
        try poller.add(end.descriptor, token: Self.endToken, for: .read)
    }
}

/// Accepts connections and ends those whose time is over. It lives on the server's thread.
private final class ProbeLoop {
    /// Most connections that are accepted in one turn, so that the present ones have their turn.
    private static let maxAcceptsPerTurn = 64
    /// How long no connection is accepted once descriptors have run out; without it the loop would spin.
    private static let acceptPause = Duration.milliseconds(100)

    private let sockets: ProbeSockets
    private let connectionTime: Duration
    private let exhausted: @Sendable () -> Void
    private var handler: any RequestHandler
    /// By numbers that rise: all have the same time, so the lowest one's is over first.
    private var connections: [UInt64: ProbeConnection] = [:]
    private var oldest: UInt64 = 0
    private var next: UInt64 = 0
    /// When to accept again after descriptors have run out.
    private var acceptAt: Instant?

    init(
        sockets: ProbeSockets, connectionTime: Duration, exhausted: @escaping @Sendable () -> Void,
        handler: any RequestHandler
    ) {
        self.sockets = sockets
        self.connectionTime = connectionTime
        self.exhausted = exhausted
        self.handler = handler
    }

    /// Serves until its end is ordered; then every connection is closed.
    func run() {
        var readinesses: [Poller.Readiness] = []
        while true {
            // At most one of each readiness.
            var requests: [(number: UInt64, head: RequestHead)] = []
            let due = [connections[oldest]?.deadline, acceptAt].compactMap { $0 }.min()
            sockets.poller.wait(until: due, into: &readinesses)
            let now = Instant.now
            for readiness in readinesses {
                switch readiness.token {
                case ProbeSockets.endToken: return
                case ProbeSockets.listenerToken: acceptAll(at: now)
                case let number: if let head = advance(number) { requests.append((number, head)) }
                }
            }
            answer(requests)
            while let connection = connections[oldest], connection.deadline <= now { remove(oldest) }
            if let at = acceptAt, at <= now, watchListener(for: .read) { acceptAt = nil }
        }
    }

    private func acceptAll(at now: Instant) {
        for _ in 0..<Self.maxAcceptsPerTurn {
            switch sockets.listener.accept() {
            case .connection(let descriptor):
                if connections.count >= ProbeServer.maxConnections { remove(oldest) }
                let connection = ProbeConnection(descriptor, deadline: now + connectionTime)
                // Without memory for it the client sees its end.
                guard (try? sockets.poller.add(descriptor, token: next, for: .read)) != nil else { continue }
                connections[next] = connection
                next += 1
            case .nobody:
                return
            case .exhausted:
                if watchListener(for: []) { acceptAt = now + Self.acceptPause }
                exhausted()
                return
            }
        }
    }

    /// - Returns: The request of a connection that has all of it now.
    private func advance(_ number: UInt64) -> RequestHead? {
        guard let connection = connections[number] else { return nil }
        switch connection.advance(refusal: handler.refusal) {
        case .over: remove(number)
        case .goesOn(let interest): watch(number, connection, for: interest)
        case .asks(let head): return head
        }
        return nil
    }

    private func answer(_ requests: [(number: UInt64, head: RequestHead)]) {
        guard !requests.isEmpty else { return }
        for ((number, head), reply) in zip(requests, handler.replies(to: requests.map(\.head))) {
            // A newer connection may have replaced it meanwhile.
            guard let connection = connections[number] else { continue }
            if case .goesOn(let interest) = connection.send(reply, to: head) {
                watch(number, connection, for: interest)
            } else {
                remove(number)
            }
        }
    }

    private func watch(_ number: UInt64, _ connection: ProbeConnection, for interest: Poller.Interest) {
        guard connection.interest != interest else { return }
        connection.interest = interest
        let isWatched = (try? sockets.poller.modify(connection.descriptor, token: number, for: interest)) != nil
        if !isWatched { remove(number) }
    }

    private func remove(_ number: UInt64) {
        connections[number] = nil
        while oldest < next, connections[oldest] == nil { oldest += 1 }
    }

    /// - Returns: false if memory is missing; the next turn tries again.
    private func watchListener(for interest: Poller.Interest) -> Bool {
        let token = ProbeSockets.listenerToken
        return (try? sockets.poller.modify(sockets.listener.descriptor, token: token, for: interest)) != nil
    }
}

/// One client: its request is read, answered, and the connection ended. It closes its descriptor at its own end.
private final class ProbeConnection {
    private enum Phase {
        case reading(HeadReader)
        case writing(ArraySlice<UInt8>)
        /// The answer is sent. A socket that is closed over unread bytes resets, and the answer with it (RFC 9112,
        /// section 9.6). So the client's side is read to its end.
        case draining
    }

    enum Step {
        /// It waits for the socket, in this direction.
        case goesOn(Poller.Interest)
        case asks(RequestHead)
        case over
    }

    let descriptor: Int32
    let deadline: Instant
    /// The direction that the socket is watched for.
    var interest = Poller.Interest.read
    private var phase = Phase.reading(HeadReader())

    init(_ descriptor: Int32, deadline: Instant) {
        self.descriptor = descriptor
        self.deadline = deadline
    }

    deinit { close(descriptor) }

    /// Goes on as far as the socket lets it, one read at a time: other connections have their turn.
    /// - Parameter refusal: Makes the reply to bytes that are no request.
    func advance(refusal: (Int) -> Reply) -> Step {
        switch phase {
        case .reading(var reader): return read(into: &reader, refusal)
        case .writing(let rest): return write(rest)
        case .draining: return receive { _ in } ? .goesOn(.read) : .over
        }
    }

    private func read(into reader: inout HeadReader, _ refusal: (Int) -> Reply) -> Step {
        guard receive({ reader.append($0) }) else { return .over }
        do {
            guard let head = try reader.next() else {
                phase = .reading(reader)
                return .goesOn(.read)
            }
            return head.contentLength > 0 ? send(refusal(413), to: head) : .asks(head)
        } catch {
            let reply = refusal(error.rawValue)
            return write((reply.head(keepsAlive: false) + reply.body)[...])
        }
    }

    /// Sends the reply to its request.
    func send(_ reply: Reply, to head: RequestHead) -> Step {
        write((reply.head(keepsAlive: false) + (head.method == "HEAD" ? [] : reply.body))[...])
    }

    private func write(_ bytes: ArraySlice<UInt8>) -> Step {
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count >= 0 || errno == EAGAIN else { return .over }
        let rest = bytes.dropFirst(max(count, 0))
        guard rest.isEmpty else {
            phase = .writing(rest)
            return .goesOn(.write)
        }
        shutdown(descriptor, Int32(SHUT_WR))
        phase = .draining
        return .goesOn(.read)
    }

    /// Reads once.
    /// - Returns: false if the client's side has ended, or failed.
    private func receive(_ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return true
        }
    }
}
