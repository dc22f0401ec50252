import CLibpq
import ChildProcesses
public import Foundation
import SocketTesting
import Synchronization

/// A PostgreSQL server of a test's own, in memory (`/dev/shm`) unless it is to be on disk. It ends with this process,
/// however the process ends, and so does its folder. It syncs nothing.
///
/// Everybody may come in through its socket, except `guarded`, who needs a password. Tests share ``shared`` and make
/// databases of their own; a test that breaks the server starts one for itself.
public final class PostgresServer: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The server that tests share; it starts with the first that asks.
    public static var shared: PostgresServer { get throws { try server.get() } }

    private static let server = Result { try PostgresServer() }

    /// Holds the socket, the data, the log and the certificate.
    public let folder: String
    /// The port on 127.0.0.1; on a server without network, part of the socket's name.
    public let port: Int
    private let script: Mutex<ChildProcess?>

    /// Starts a server and waits until it answers.
    /// - Parameters:
    ///   - settings: Lines of its configuration.
    ///   - hasNetwork: Whether it also listens on 127.0.0.1, with TLS and passwords only. The certificate is for
    ///     `localhost`, see ``certificate``.
    ///   - rules: Lines of `pg_hba.conf` before the others.
    ///   - hasExpired: Whether its certificate has expired.
    ///   - isStandby: Whether it follows a primary, which there is not, and takes no writes.
    ///   - disk: A folder that everybody may write into, for its data; nil for its own folder.
    ///   - isOnDisk: Whether its own folder is below `/tmp`, for runs that measure, and those with large ledgers.
    public init(
        settings: [String] = [], hasNetwork: Bool = false, rules: [String] = [], hasExpired: Bool = false,
        isStandby: Bool = false, disk: String? = nil, isOnDisk: Bool = false
    ) throws {
        port = hasNetwork ? try Loopback.freePorts(1)[0] : 5432
        var lines = [
            "port = \(port)", "listen_addresses = '\(hasNetwork ? "127.0.0.1" : "")'", "fsync = off",
            "shared_buffers = 32MB", "log_min_messages = warning",
        ]
        if hasNetwork { lines += ["ssl = on", "ssl_cert_file = '../certificate'", "ssl_key_file = '../key'"] }
        let started = try PostgresScripts.start(
            PostgresScripts.serving,
            [
                "TEMPLATE": try PostgresScripts.template.get().folder,
                "SETTINGS": (lines + settings).joined(separator: "\n"),
                "RULES": rules.joined(separator: "\n"), "EXPIRED": hasExpired ? "yes" : "",
                "NETWORK": hasNetwork ? "yes" : "", "STANDBY": isStandby ? "yes" : "", "DISK": disk ?? "",
                "BELOW": isOnDisk ? "/tmp" : "/dev/shm",
            ])
        folder = started.folder
        script = Mutex(started.script)
    }

    deinit { stop() }

    /// Has the script break or mend the server.
    func command(_ line: String) throws {
        try script.withLock { script in
            script?.say(line)
            let answer = script?.readLine() ?? "it has ended"
            guard answer == "done" else { throw Failure(description: "PostgreSQL: \(line): \(answer)") }
        }
    }

    /// Ends the server as a crash would, and removes its folder. Once; it does not come back.
    public func stop() {
        let running = script.withLock { script in
            defer { script = nil }
            return script
        }
        running?.end()
    }

    /// The server's first process, whose children serve; nil if it has ended.
    public var pid: pid_t? {
        let file = try? String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
        return file?.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    /// A URL by the socket.
    public func url(database: String = "postgres", user: String = "postgres") -> String {
        "postgres://\(user)@/\(database)?host=\(folder)&port=\(port)"
    }

    /// The certificate of a server with network, which is its own authority.
    public var certificate: String { "\(folder)/certificate" }

    /// Makes a database, and names it by its URL.
    @discardableResult
    public func createDatabase(_ name: String) throws -> String {
        try run("CREATE DATABASE \(name)")
        return url(database: name)
    }

    /// Runs SQL as the server's owner.
    /// - Returns: The first value of the last statement.
    @discardableResult
    public func run(_ sql: String, database: String = "postgres") throws -> String? {
        let connection = PQconnectdb(url(database: database))
        defer { PQfinish(connection) }
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw Failure(description: PQerrorMessage(connection).map { String(cString: $0) } ?? "no message")
        }
        guard PQntuples(result) > 0 else { return nil }
        return PQgetvalue(result, 0, 0).map { String(cString: $0) }
    }
}
