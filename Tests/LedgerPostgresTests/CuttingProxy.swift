import Foundation
import Synchronization

/// Stands between sessions and a server on a Unix socket, and cuts a session at one of its round trips: as the end of
/// the worker, of the network or of the server does it.
final class CuttingProxy: Sendable {
    enum Cut: Sendable, CaseIterable {
        /// The server never gets the statements.
        case beforeStatements
        /// The server has done them, and nobody learns of it.
        case afterStatements
    }

    struct Failure: Error {}

    /// The folder of the socket, as a URL names it.
    let folder: String
    private let server: String
    private let listener: Int32
    /// Round trips until the cut; nil for none.
    private let plan = Mutex<(left: Int, cut: Cut)?>(nil)

    /// - Parameter server: The path of the server's socket.
    init(server: String) throws {
        self.server = server
        folder = "/tmp/grantor-proxy-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard Self.withAddress(folder + "/.s.PGSQL.5432", { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0
        else { throw Failure() }
        Thread.detachNewThread { self.accept() }
    }

    /// Cuts the session that makes the last of so many round trips from now on.
    func cut(after roundTrips: Int, _ cut: Cut) { plan.withLock { $0 = (roundTrips, cut) } }

    /// Whether the cut is still to come.
    var isArmed: Bool { plan.withLock { $0 != nil } }

    func disarm() { plan.withLock { $0 = nil } }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { return }
            let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            _ = Self.withAddress(server) { connect(upstream, $0, $1) }
            let session = Session(client: client, server: upstream, nextCut: nextCut)
            Thread.detachNewThread { session.serve() }
        }
    }

    private func nextCut() -> Cut? {
        plan.withLock { plan in
            guard let (left, cut) = plan else { return nil }
            plan = left > 1 ? (left - 1, cut) : nil
            return left > 1 ? nil : cut
        }
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// One connection. The protocol goes by turns: all statements up to a Sync, then all answers up to ReadyForQuery.
private final class Session: Sendable {
    private let client: Int32
    private let server: Int32
    private let nextCut: @Sendable () -> CuttingProxy.Cut?

    init(client: Int32, server: Int32, nextCut: @escaping @Sendable () -> CuttingProxy.Cut?) {
        self.client = client
        self.server = server
        self.nextCut = nextCut
    }

    func serve() {
        defer {
            close(client)
            close(server)
        }
        // The first message has no type; its answers end as all others do.
        guard let length = read(4, from: client), let rest = read(Self.count(length) - 4, from: client) else { return }
        send(length + rest, to: server)
        guard let greeting = messages(from: server, through: [UInt8(ascii: "Z")]) else { return }
        send(greeting, to: client)
        while let statements = messages(from: client, through: [UInt8(ascii: "S"), UInt8(ascii: "Q")]) {
            switch nextCut() {
            case .beforeStatements: return
            case .afterStatements:
                send(statements, to: server)
                _ = messages(from: server, through: [UInt8(ascii: "Z")])
                return
            case nil:
                send(statements, to: server)
                guard let answers = messages(from: server, through: [UInt8(ascii: "Z")]) else { return }
                send(answers, to: client)
            }
        }
    }

    /// Messages up to one of a type that ends a turn; nil at the connection's end.
    private func messages(from descriptor: Int32, through types: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let head = read(5, from: descriptor),
            let body = read(Self.count(Array(head.dropFirst())) - 4, from: descriptor)
        {
            bytes += head + body
            if types.contains(head[0]) { return bytes }
        }
        return nil
    }

    private static func count(_ bytes: [UInt8]) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private func read(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var have = 0
        while have < count {
            let more = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress?.advanced(by: have), count - have, 0)
            }
            guard more > 0 else { return nil }
            have += more
        }
        return bytes
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) {
        var sent = 0
        while sent < bytes.count {
            let more = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { return }
            sent += more
        }
    }
}
