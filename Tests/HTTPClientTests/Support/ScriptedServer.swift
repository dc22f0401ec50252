import CLibcrypto
import Glibc
import SocketTesting
import Synchronization
import Testing
import Threading

/// A server on loopback that answers each request by a script, byte for byte: a thread for each connection.
final class ScriptedServer: Sendable {
    /// A request as it came.
    struct Received: Sendable {
        let number: Int
        let head: String
        let body: [UInt8]

        var path: Substring { head.split(separator: " ").dropFirst().first ?? "" }
    }

    enum Step: Sendable {
        case send(String)
        case sendBytes([UInt8])
        /// Goes on when the gate is open.
        case pass(Gate)
        /// Ends the connection without a TLS farewell.
        case finish
        /// Ends the connection with a TCP reset.
        case reset
        /// Agrees on TLS, and reads requests of their own from then on: a proxy that is the server as well.
        case startTLS
    }

    enum Opening: Sendable {
        case tls(ServerTLS)
        /// For a proxy, which is spoken to in the open; `startTLS` begins TLS with this.
        case plain(ServerTLS?)
        /// Accepts, and says nothing.
        case silence
    }

    let connections = Tally()
    let closedConnections = Tally()
    let requests = Tally()
    let atOnce = HighWater()
    let log = RequestLog()
    let port: Int
    private let listener: Int32
    private let open = Mutex<Set<Int32>>([])
    private let isClosing = Atomic(false)
    private let opening: Opening
    private let script: @Sendable (Received) -> [Step]
    private let acceptor = Mutex<OwnerThread?>(nil)

    init(_ opening: Opening, script: @escaping @Sendable (Received) -> [Step]) throws {
        self.opening = opening
        self.script = script
        (listener, port) = try Loopback.listening()
        try acceptor.withLock { $0 = try OwnerThread(name: "accept") { [self] in accept() } }
    }

    var url: String { "https://localhost:\(port)" }

    /// Ends the listener and every connection.
    func close() {
        isClosing.store(true, ordering: .sequentiallyConsistent)
        shutdown(listener, Int32(SHUT_RDWR))
        for descriptor in open.withLock({ $0 }) { shutdown(descriptor, Int32(SHUT_RDWR)) }
        acceptor.withLock { $0 }?.join()
        closedConnections.reaches(connections.count)
        Glibc.close(listener)
    }

    private func accept() {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            connections.add()
            open.withLock { _ = $0.insert(descriptor) }
            if isClosing.load(ordering: .sequentiallyConsistent) { shutdown(descriptor, Int32(SHUT_RDWR)) }
            do {
                _ = try OwnerThread(name: "connection", stackSize: 256 << 10) { [self] in serve(descriptor) }
            } catch {
                Issue.record(error)
            }
        }
    }

    private func serve(_ descriptor: Int32) {
        let stream = ByteStream(descriptor)
        var unread: [UInt8] = []
        var mayGoOn = true
        switch opening {
        case .tls(let tls): mayGoOn = stream.startTLS(tls)
        case .plain, .silence: break
        }
        while mayGoOn, let received = stream.readRequest(&unread) {
            if case .silence = opening { continue }
            let request = Received(number: requests.next(), head: received.head, body: received.body)
            log.append(request)
            atOnce.enter()
            requests.add()
            mayGoOn = script(request).allSatisfy { play($0, stream) }
            atOnce.leave()
        }
        open.withLock { _ = $0.remove(descriptor) }
        stream.end()
        closedConnections.add()
    }

    /// - Returns: whether the connection goes on.
    private func play(_ step: Step, _ stream: ByteStream) -> Bool {
        switch step {
        case .send(let text): return stream.write(Array(text.utf8))
        case .sendBytes(let bytes): return stream.write(bytes)
        case .pass(let gate):
            gate.arrive()
            return true
        case .finish: return false
        case .reset:
            stream.resetsAtEnd = true
            return false
        case .startTLS:
            guard case .plain(let tls?) = opening else { return false }
            return stream.startTLS(tls)
        }
    }
}

/// Everything that was asked, in order.
final class RequestLog: Sendable {
    private let entries = Mutex<[ScriptedServer.Received]>([])

    var all: [ScriptedServer.Received] { entries.withLock { $0 } }

    func append(_ request: ScriptedServer.Received) { entries.withLock { $0.append(request) } }
}

extension String {
    /// A whole 200 response.
    static func ok(_ body: String, headers: String = "") -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }
}
