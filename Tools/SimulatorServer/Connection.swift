internal import HTTPServer
internal import Scheduling
internal import Threading

/// One client: reads its requests, has them answered, sends the answers. For the server's thread.
///
///     handshaking -> reading -> delaying -> writing -> reading
///                                              |  ^  |
///                                              v  |  +-> draining -> closed
///                                            dripping
///
/// The owner hands it events, and then looks at ``interest``, ``deadline`` and ``isClosed``.
final class Connection {
    enum Event {
        case ready(Poller.Readiness)
        case deadline
    }

    private enum Phase {
        case handshaking
        /// A request, or the first byte of one.
        case reading
        case delaying(ServerAnswer.Action)
        /// The output is written; `then` says what follows.
        case writing(then: Next)
        /// The pause before the next piece.
        case dripping(Drip)
        /// Nothing is sent until the deadline.
        case hanging
        /// The answers are sent; the client has a moment to take them.
        case draining
    }

    private enum Next {
        case finish(keepsAlive: Bool)
        case drip(Drip)
        case close
    }

    private struct Drip {
        var rest: ArraySlice<UInt8>
        let bytes: Int
        let pause: Duration
        let keepsAlive: Bool
    }

    /// Most bytes that are read ahead of the answer to a request.
    private static let maxBytesAhead = 16 << 10
    /// Time for a client to take the last answer and close its side. A socket that is closed over unread bytes is
    /// reset, and the answer is lost (RFC 9112, section 9.6).
    private static let drainTime = Duration.seconds(1)

    let token: UInt64
    /// The directions that the socket is to be watched for.
    private(set) var interest: Poller.Interest = .read
    private(set) var deadline: Instant
    private(set) var isClosed = false
    /// Since when the client has had no complete request; nil while it has one.
    private(set) var waitingSince: Instant?

    var descriptor: Int32 { socket.descriptor }
    private let socket: Socket
    private let context: ConnectionContext
    private var phase = Phase.handshaking
    private var reader = RequestReader()
    private var requests = 0
    private var isInRequest = false
    private var isHead = false
    private var keepsAlive = false
    private var output: [UInt8] = []
    private var written = 0
    private var heldBytes = 0
    /// Whether a read may give something: the socket said so, and no read has been short since.
    private var mayRead = true

    init(token: UInt64, socket: Socket, context: ConnectionContext, now: Instant) {
        self.token = token
        self.socket = socket
        self.context = context
        let configuration = context.configuration
        deadline = now + (socket.hasHandshake ? configuration.handshakeTime : configuration.idleTime)
        waitingSince = now
        context.configuration.observe(.connectionOpened)
    }

    /// Goes on as far as it can.
    func handle(_ event: Event, at now: Instant) {
        switch event {
        case .ready(let readiness):
            mayRead = true
            if readiness.hasFailed, !goesOnAfterFailure { return close() }
        case .deadline:
            deadlineReached(at: now)
        }
        while !isClosed, step(at: now) {}
    }

    /// Ends the connection at once.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        socket.close()
        output = []
        forgetInput()
        endRequest()
        context.configuration.observe(.connectionClosed)
    }

    /// In these phases a read or write shows the failure; other phases would not notice.
    private var goesOnAfterFailure: Bool {
        switch phase {
        case .handshaking, .reading, .writing, .draining: true
        case .delaying, .dripping, .hanging: false
        }
    }

    /// - Returns: whether there is more to do at once.
    private func step(at now: Instant) -> Bool {
        switch phase {
        case .handshaking: shakeHands(at: now)
        case .reading: read(at: now)
        case .delaying, .dripping, .hanging: watch()
        case .writing(let next): write(then: next, at: now)
        case .draining: drain()
        }
    }

    private func deadlineReached(at now: Instant) {
        switch phase {
        case .delaying(let action):
            perform(action, at: now)
        case .dripping(let drip):
            sendPiece(of: drip, at: now)
        case .reading:
            // Clients that keep a connection see that it ends on purpose.
            socket.finishWriting()
            close()
        case .handshaking, .writing, .hanging, .draining:
            close()
        }
    }

    private func shakeHands(at now: Instant) -> Bool {
        switch socket.handshake() {
        case .bytes:
            phase = .reading
            deadline = now + context.configuration.idleTime
            return true
        case .blocked(let interest):
            self.interest = interest
        case .ended, .failed:
            close()
        }
        return false
    }

    // MARK: Requests

    private func read(at now: Instant) -> Bool {
        switch reader.next() {
        case .incomplete:
            return readMore(at: now)
        case .head(let head):
            if head.contentLength > context.configuration.bodyLimit(head) {
                refuse(413, at: now)
            } else if head.expectsContinue, !reader.hasBodyBytes {
                invite()
            }
        case .request(let request):
            begin(request, at: now)
        case .refused(let refusal):
            refuse(refusal.rawValue, at: now)
        }
        return true
    }

    private func readMore(at now: Instant) -> Bool {
        guard mayRead || socket.hasPending else {
            interest = .read
            return false
        }
        let isFirst = reader.bufferedBytes == 0
        switch receive() {
        case .bytes(let count):
            reader.append(context.readBuffer[..<count])
            if isFirst { deadline = now + context.configuration.requestTime }
            hold(reader.bufferedBytes)
            if context.bytesInFlight > context.configuration.maxBytesInFlight { refuse(503, at: now) }
            return true
        case .blocked(let interest):
            self.interest = interest
        case .ended, .failed:
            close()
        }
        return false
    }

    /// libcurl holds longer bodies back for a second unless it is asked for them.
    private func invite() {
        let text = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        // A socket on which nothing is under way has room for it.
        guard text.withUnsafeBytes({ socket.write($0) }) == .bytes(text.count) else { return close() }
    }

    private func begin(_ request: Request, at now: Instant) {
        requests += 1
        isInRequest = true
        waitingSince = nil
        isHead = request.head.method == "HEAD"
        keepsAlive = request.head.keepsAlive && requests < context.configuration.maxRequestsPerConnection
        context.configuration.observe(.requestBegan)
        begin(context.handler(request), at: now)
    }

    private func refuse(_ status: Int, at now: Instant) {
        context.configuration.observe(.requestRefused(status: status))
        isHead = false
        keepsAlive = false
        forgetInput()
        send(.refusal(status), at: now)
    }

    /// While nothing is sent, bytes that come are kept for the next request, and the end is noticed.
    private func watch() -> Bool {
        guard reader.bufferedBytes < Self.maxBytesAhead else {
            interest = []
            return false
        }
        guard mayRead else {
            interest = .read
            return false
        }
        switch receive() {
        case .bytes(let count):
            reader.append(context.readBuffer[..<count])
            hold(heldBytes + count)
            return true
        case .blocked(let interest):
            self.interest = interest
        case .ended, .failed:
            close()
        }
        return false
    }

    private func receive() -> SocketOutcome {
        let transfer = context.readBuffer.withUnsafeMutableBytes { socket.read(into: $0) }
        // After a short read the socket says when there is more.
        mayRead = transfer == .bytes(ConnectionContext.readBytes) || socket.hasPending
        return transfer
    }

    // MARK: Answers

    private func begin(_ answer: ServerAnswer, at now: Instant) {
        guard answer.delay > .zero else { return perform(answer.action, at: now) }
        phase = .delaying(answer.action)
        deadline = now + answer.delay
    }

    private func perform(_ action: ServerAnswer.Action, at now: Instant) {
        switch action {
        case .reply(let reply):
            send(reply, at: now)
        case .cutOff(let reply):
            output = reply.head(keepsAlive: keepsAlive) + reply.body.prefix(reply.body.count / 2)
            startWriting(then: .close, at: now)
        case .drip(let reply, let bytes, let pause):
            let drip = Drip(
                rest: isHead ? [] : reply.body[...], bytes: max(bytes, 1), pause: pause, keepsAlive: keepsAlive)
            sendPiece(of: drip, behind: reply.head(keepsAlive: keepsAlive), at: now)
        case .reset:
            socket.resetAtClose()
            close()
        case .close:
            close()
        case .hang:
            phase = .hanging
            deadline = now + context.configuration.answerTime
        }
    }

    private func send(_ reply: Reply, at now: Instant) {
        output = reply.head(keepsAlive: keepsAlive)
        if !isHead { output += reply.body }
        startWriting(then: .finish(keepsAlive: keepsAlive), at: now)
    }

    private func sendPiece(of drip: Drip, behind head: [UInt8] = [], at now: Instant) {
        var drip = drip
        output = head + drip.rest.prefix(drip.bytes)
        drip.rest = drip.rest.dropFirst(drip.bytes)
        startWriting(then: drip.rest.isEmpty ? .finish(keepsAlive: drip.keepsAlive) : .drip(drip), at: now)
    }

    private func startWriting(then next: Next, at now: Instant) {
        written = 0
        phase = .writing(then: next)
        deadline = now + context.configuration.writeTime
    }

    private func write(then next: Next, at now: Instant) -> Bool {
        while written < output.count {
            let transfer = output.withUnsafeBytes { socket.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
            switch transfer {
            case .bytes(let count):
                written += count
            case .blocked(let interest):
                self.interest = interest
                return false
            case .ended, .failed:
                close()
                return false
            }
        }
        output = []
        switch next {
        case .finish(let keepsAlive):
            finish(keepsAlive: keepsAlive, at: now)
        case .drip(let drip):
            phase = .dripping(drip)
            deadline = now + drip.pause
        case .close:
            close()
        }
        return true
    }

    private func finish(keepsAlive: Bool, at now: Instant) {
        endRequest()
        waitingSince = now
        if keepsAlive {
            hold(reader.bufferedBytes)
            phase = .reading
            let hasBegun = reader.bufferedBytes > 0
            deadline = now + (hasBegun ? context.configuration.requestTime : context.configuration.idleTime)
        } else {
            forgetInput()
            socket.finishWriting()
            phase = .draining
            deadline = now + Self.drainTime
            mayRead = true
        }
    }

    private func drain() -> Bool {
        switch context.readBuffer.withUnsafeMutableBytes({ socket.readRaw(into: $0) }) {
        case .bytes:
            // One read at a time: the socket says that there is more, and other connections have their turn.
            interest = .read
        case .blocked(let interest):
            self.interest = interest
        case .ended, .failed:
            close()
        }
        return false
    }

    private func forgetInput() {
        reader = RequestReader()
        hold(0)
    }

    private func endRequest() {
        guard isInRequest else { return }
        isInRequest = false
        context.configuration.observe(.requestEnded)
    }

    /// Counts the bytes of this connection among those in flight.
    private func hold(_ bytes: Int) {
        context.bytesInFlight += bytes - heldBytes
        heldBytes = bytes
    }
}
