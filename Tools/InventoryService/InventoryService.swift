internal import CertificateMaking
public import Contract
internal import Fulfilment
internal import HTTPServer
internal import Scheduling
internal import SimulatorServer
internal import Synchronization

/// A platform's inventory service on loopback, over TLS. It applies each grant once by its key, keeps a book of all
/// calls, and answers as a test wants.
public final class InventoryService: Sendable {
    /// One call as it came.
    public struct Call: Sendable {
        /// 1 for the first call of all.
        public let number: Int
        /// How often this key has come, this call included.
        public let tries: Int
        /// The grant's event id; empty if the call names none.
        public let key: String
        /// Of its headers, in small letters.
        public let fields: [String: String]
        public let body: [UInt8]
        /// Whether one of the accepted secrets has signed it.
        public let isGenuine: Bool
    }

    /// The end of a genuine call.
    public enum Behaviour: Hashable, Sendable {
        /// Applies the grant and answers; 200, unless the test says otherwise.
        case apply(status: Int = 200, after: Duration = .zero)
        /// Applies the grant, and never answers.
        case applyAndHang
        /// Applies the grant and dies before its answer: the connection ends.
        case applyAndClose
        /// Applies nothing, and answers with a status.
        case refuse(status: Int, retryAfter: Int? = nil)
    }

    /// All that the service knows.
    public struct Book: Sendable {
        /// When each grant was applied, and when its first yes was about to be sent, in milliseconds since 1970.
        public struct Entry: Sendable {
            public let appliedAt: Int64
            public internal(set) var saidYesAt: Int64?
        }

        /// By key.
        public internal(set) var applied: [String: Entry] = [:]
        /// Bodies that came under a key: more than one would be another grant.
        public internal(set) var bodies: [String: Set<[UInt8]>] = [:]
        /// The refused keys among all calls.
        public internal(set) var refused: Set<String> = []
        public internal(set) var calls = 0
        /// Calls that no accepted secret has signed.
        public internal(set) var forged = 0
        /// Calls without a key, or whose key is not that of the event.
        public internal(set) var unnamed = 0
        /// Calls without key and signature that only look whether the service answers.
        public internal(set) var probes = 0
        var tries: [String: Int] = [:]
    }

    /// The authority that a client must trust, PEM.
    public let rootPEM: String
    private let identity: TLSIdentity
    private let book = Mutex(Book())
    private let secrets: Mutex<[String]>
    private let behave: Mutex<@Sendable (Call) -> Behaviour>
    private let server: Mutex<Server?>
    private let port: Int
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - secrets: Calls that are signed with one of them are genuine; others are answered 401.
    ///   - behave: The behaviour for each genuine call, on the service's thread.
    public init(
        secrets: [String], now: @escaping @Sendable () -> Timestamp,
        behave: @escaping @Sendable (Call) -> Behaviour = { _ in .apply() }
    ) throws {
        let end = now().milliseconds / 1000 + 365 * 86_400
        let certificate = try ServerCertificate(validity: 1_262_304_000...end)
        rootPEM = certificate.rootPEM
        identity = try TLSIdentity(certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        self.secrets = Mutex(secrets)
        self.behave = Mutex(behave)
        self.now = now
        server = Mutex(nil)
        let quiet = try Self.reserved()
        port = quiet.port
        quiet.stop()
        try start()
    }

    /// Where grants are told.
    public var url: String { "https://127.0.0.1:\(port)/grants" }

    /// The book as it is now.
    public var soFar: Book { book.withLock { $0 } }

    /// From now on calls are genuine that one of these has signed.
    public func accept(secrets next: [String]) { secrets.withLock { $0 = next } }

    /// From now on this is done with each genuine call.
    public func behave(_ next: @escaping @Sendable (Call) -> Behaviour) { behave.withLock { $0 = next } }

    /// Frees the port and ends every connection: nobody can be reached.
    public func stop() {
        let running = server.withLock { server in
            defer { server = nil }
            return server
        }
        running?.stop()
    }

    /// Listens again on the same port.
    public func start() throws {
        let made = try Server(Self.configuration(port), identity: identity) { [weak self] request in
            self?.answer(request) ?? .reply(Reply(status: 503))
        }
        server.withLock { $0 = made }
    }

    private static func configuration(_ port: Int) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.port = port
        configuration.threadName = "inventory"
        configuration.maxConnections = 4096
        return configuration
    }

    /// Ports below the range of outgoing connections, so that no connection gets this one while the service is away.
    private static let quietPorts = 10_240..<32_768
    private static let tries = 32

    /// A server that holds a free port until it is stopped.
    private static func reserved() throws(ServerError) -> Server {
        for _ in 0..<tries {
            if let held = try? Server(configuration(.random(in: quietPorts)), handler: { _ in ServerAnswer(.close) }) {
                return held
            }
        }
        return try Server(configuration(0), handler: { _ in ServerAnswer(.close) })
    }

    private func answer(_ request: Request) -> ServerAnswer {
        guard request.head.method == "POST" else {
            book.withLock { $0.probes += 1 }
            return .reply(Reply(status: 405))
        }
        let call = take(request)
        guard call.isGenuine else { return .reply(Reply(status: 401)) }
        let behaviour = behave.withLock { $0 }(call)
        let moment = now().milliseconds
        book.withLock { $0.note(call, behaviour, at: moment) }
        return behaviour.answer
    }

    private func take(_ request: Request) -> Call {
        var fields: [String: String] = [:]
        for field in request.head.fields { fields[field.name.lowercased()] = field.value }
        let key = fields[FulfilmentCall.keyHeader.lowercased()] ?? ""
        let accepted = secrets.withLock { $0 }
        let isGenuine = InventorySignature(fields["grantor-signature"] ?? "")
            .isGenuine(request.body, by: accepted, at: now())
        return book.withLock { book in
            book.calls += 1
            book.tries[key, default: 0] += 1
            if !isGenuine { book.forged += 1 }
            if key.isEmpty || key != fields["ce-id"] { book.unnamed += 1 }
            return Call(
                number: book.calls, tries: book.tries[key] ?? 1, key: key, fields: fields, body: request.body,
                isGenuine: isGenuine)
        }
    }
}

extension InventoryService.Book {
    /// Notes a genuine call and its answer.
    fileprivate mutating func note(
        _ call: InventoryService.Call, _ behaviour: InventoryService.Behaviour, at moment: Int64
    ) {
        bodies[call.key, default: []].insert(call.body)
        guard case .refuse(let status, _) = behaviour else {
            var entry = applied[call.key] ?? Entry(appliedAt: moment, saidYesAt: nil)
            if behaviour.isHeard, entry.saidYesAt == nil { entry.saidYesAt = moment }
            applied[call.key] = entry
            return
        }
        if status == 410 || status == 422 { refused.insert(call.key) }
    }
}

extension InventoryService.Behaviour {
    /// Whether the caller hears a yes.
    fileprivate var isHeard: Bool {
        if case .apply(let status, _) = self { (200..<300).contains(status) } else { false }
    }

    fileprivate var answer: ServerAnswer {
        switch self {
        case .apply(let status, let delay): ServerAnswer(.reply(Reply(status: status)), delay: delay)
        case .applyAndHang: ServerAnswer(.hang)
        case .applyAndClose: ServerAnswer(.close)
        case .refuse(let status, let retryAfter):
            ServerAnswer(
                .reply(
                    Reply(status: status, fields: retryAfter.map { [HeaderField("retry-after", "\($0)")] } ?? [])))
        }
    }
}
