import NIOCore
import NIOPosix
import Synchronization

/// A platform's inventory service on loopback: applies each grant once by its key, and answers as a test wants it to.
public final class InventoryServer: Sendable {
    /// One call as it came.
    public struct Call: Sendable {
        /// 1 for the first call of all.
        public let number: Int
        /// How often this key was called with so far, this call included.
        public let tries: Int
        /// In small letters.
        public let headers: [String: String]
        public let body: [UInt8]

        /// The grant that it tells of; empty if it names none.
        public var key: String { headers["idempotency-key"] ?? "" }
    }

    /// What the service does with a call.
    public enum Behaviour: Sendable {
        /// Applies the grant, and answers with this.
        case apply(status: Int = 200, headers: [String] = [], body: String = "{}")
        /// Applies nothing, and answers with this.
        case refuse(status: Int, headers: [String] = [], body: String = "{}")
        /// Applies the grant, and answers twice.
        case applyTwiceAnswered
        /// Dies between its work and its answer: the connection closes.
        case applyAndDie
        /// Applies the grant, and cuts its answer.
        case applyAndCut
        /// Applies the grant, and never answers.
        case applyAndHang
        /// Applies nothing, and never answers.
        case hang
    }

    /// What the service knows.
    public struct Book: Sendable {
        /// When each grant was applied, in milliseconds since 1970, by its key.
        public fileprivate(set) var applied: [String: Int64] = [:]
        /// Every call, in order.
        public fileprivate(set) var calls: [Call] = []
        /// Bodies that came under a key; more than one means that calls differ.
        public fileprivate(set) var bodies: [String: Set<[UInt8]>] = [:]
        fileprivate var tries: [String: Int] = [:]
    }

    private let book = Mutex(Book())
    private let script: @Sendable (Call) -> Behaviour
    private let now: @Sendable () -> Int64
    private let channel: Mutex<(any Channel)?> = Mutex(nil)

    /// Starts the service.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - script: what is done with each call.
    public init(
        now: @escaping @Sendable () -> Int64, script: @escaping @Sendable (Call) -> Behaviour
    ) async throws {
        self.now = now
        self.script = script
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        InventoryHandler { [weak self] head, body in
                            self?.receive(head, body) ?? []
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = server }
    }

    /// Where grants are told.
    public var url: String { "http://127.0.0.1:\(port)/grants" }

    /// Where it listens on 127.0.0.1; 0 once it is closed.
    public var port: Int { channel.withLock { $0?.localAddress?.port } ?? 0 }

    /// What the service knows by now.
    public var soFar: Book { book.withLock { $0 } }

    /// Ends the service.
    public func close() async throws {
        try await channel.withLock { $0.take() }?.close()
    }

    private func receive(_ head: [String: String], _ body: [UInt8]) -> [InventoryHandler.Step] {
        let key = head["idempotency-key"] ?? ""
        let call = book.withLock { book in
            book.tries[key, default: 0] += 1
            let call = Call(
                number: book.calls.count + 1, tries: book.tries[key] ?? 1, headers: head, body: body)
            book.calls.append(call)
            book.bodies[key, default: []].insert(body)
            return call
        }
        let behaviour = script(call)
        if behaviour.applies {
            let moment = now()
            book.withLock { book in book.applied[key] = book.applied[key] ?? moment }
        }
        return behaviour.steps
    }
}

extension InventoryServer.Behaviour {
    fileprivate var applies: Bool {
        switch self {
        case .apply, .applyTwiceAnswered, .applyAndDie, .applyAndCut, .applyAndHang: true
        case .refuse, .hang: false
        }
    }

    fileprivate var steps: [InventoryHandler.Step] {
        switch self {
        case .apply(let status, let headers, let body), .refuse(let status, let headers, let body):
            [.send(Self.response(status, headers, body))]
        case .applyTwiceAnswered:
            [.send(Self.response(200, [], "{}") + Self.response(200, [], "{}"))]
        case .applyAndDie: [.close]
        case .applyAndCut: [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), .close]
        case .applyAndHang, .hang: []
        }
    }

    private static func response(_ status: Int, _ headers: [String], _ body: String) -> String {
        "HTTP/1.1 \(status) Answer\r\nContent-Length: \(body.utf8.count)\r\n"
            + headers.map { $0 + "\r\n" }.joined() + "\r\n" + body
    }
}
