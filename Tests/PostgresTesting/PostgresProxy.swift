import Foundation
import SocketTesting
import Synchronization

/// Stands between sessions and a server on a Unix socket, and cuts or holds a session at one of its round trips. The
/// end of the worker, of the network or of the server does the same.
public final class PostgresProxy: Sendable {
    public enum Moment: Sendable, CaseIterable {
        /// The server never gets the statements, or later.
        case beforeStatements
        /// The server has carried them out, and the session learns of it later or never.
        case afterStatements
    }

    /// Waits for one round trip, and does something at it.
    struct Plan {
        /// Round trips until then, among those that fit.
        var left: Int
        let moment: Moment
        /// Looks at the SQL of a round trip's statements, and of those of the session's round trip before.
        let fits: @Sendable (_ before: [String], _ now: [String]) -> Bool
        /// Blocks the session for as long as it is to be held; nil cuts it.
        let hold: (@Sendable () -> Void)?
    }

    /// The folder of the socket, as a URL names it.
    public let folder: String
    private let server: String
    private let listener: Int32
    private let plan = Mutex<Plan?>(nil)

    /// - Parameter server: The path of the server's socket.
    public init(server: String) throws {
        self.server = server
        folder = "/tmp/grantor-proxy-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        listener = try UnixSocket.listening(at: folder + "/.s.PGSQL.5432")
        Thread.detachNewThread { self.accept() }
    }

    /// Stands before a server.
    public convenience init(_ server: PostgresServer) throws {
        try self.init(server: "\(server.folder)/.s.PGSQL.\(server.port)")
    }

    /// Cuts the session that makes the last of so many round trips from now on.
    public func cut(after roundTrips: Int, _ moment: Moment) {
        plan.withLock { $0 = Plan(left: roundTrips, moment: moment, fits: { _, _ in true }, hold: nil) }
    }

    /// Holds the session that makes the next round trip that fits, for as long as a block takes.
    /// - Parameter fits: Looks at the SQL of the session's round trip before, and of this one.
    public func hold(
        at moment: Moment, of fits: @escaping @Sendable (_ before: [String], _ now: [String]) -> Bool,
        _ block: @escaping @Sendable () -> Void
    ) {
        plan.withLock { $0 = Plan(left: 1, moment: moment, fits: fits, hold: block) }
    }

    /// Whether something is still to come.
    public var isArmed: Bool { plan.withLock { $0 != nil } }

    public func disarm() { plan.withLock { $0 = nil } }

    public func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { return }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            guard let upstream = try? UnixSocket.connected(to: server) else {
                close(client)
                continue
            }
            let session = ProxySession(client: client, server: upstream, next: next)
            Thread.detachNewThread { session.serve() }
        }
    }

    /// The plan, if it is for this round trip.
    private func next(_ before: [String], _ now: [String]) -> Plan? {
        plan.withLock { plan in
            guard let found = plan, found.fits(before, now) else { return nil }
            plan?.left -= 1
            guard found.left <= 1 else { return nil }
            plan = nil
            return found
        }
    }
}
