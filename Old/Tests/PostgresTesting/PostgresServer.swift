import Foundation
import Glibc
import SystemTesting

/// A PostgreSQL server of a test's own: files under the temporary folder, a socket there and a port on the loopback, every
/// commit synced. It ends with the process that started it, however that ends.
public final class PostgresServer: Sendable {
    /// Holds the data, the socket, the log and the certificates.
    public let folder: String
    public let port: Int
    private let supervisor: Supervisor

    /// What went wrong with a server, with the end of its log.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private static let shared = SharedServer()

    /// The server that all tests of this process share; started with the first call.
    public static func sharedServer() async throws -> PostgresServer {
        try await shared.server()
    }

    /// Makes a new server and waits until it answers.
    public static func start(settings: [String: String] = [:]) async throws -> PostgresServer {
        try await offPool {
            let server = try PostgresServer(settings)
            try server.awaitAnswer()
            return server
        }
    }

    private init(_ settings: [String: String]) throws {
        folder = NSTemporaryDirectory() + "grantor-pg-\(UUID().uuidString.prefix(8))"
        port = try FreePort.find()
        let tools = try PostgresTools()
        try tools.run("/usr/bin/install", ["-d", "-m", "0700"] + tools.ownership + [folder])
        let options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
        try tools.runAsServer("initdb", ["-D", "\(folder)/data"] + options)
        try ServerCertificates.make(in: folder, tools)
        let access = """
            local all all trust
            host all guarded 127.0.0.1/32 scram-sha-256
            host all all 127.0.0.1/32 trust
            """
        var all = [
            "listen_addresses": "'127.0.0.1'", "port": "\(port)", "unix_socket_directories": "'\(folder)'",
            "fsync": "on", "synchronous_commit": "on", "ssl": "on", "ssl_cert_file": "'\(folder)/server.crt'",
            "ssl_key_file": "'\(folder)/server.key'", "logging_collector": "off", "max_connections": "400",
            "shared_buffers": "'128MB'", "max_wal_size": "'4GB'", "log_lock_waits": "on",
        ]
        all.merge(settings) { $1 }
        let lines = all.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(separator: "\n")
        try tools.append(lines + "\n", to: "\(folder)/data/postgresql.conf")
        try tools.replace("\(folder)/data/pg_hba.conf", with: access + "\n")
        supervisor = try Supervisor(tools, folder)
    }

    deinit {
        if !supervisor.leave() { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// A URL by the socket, as the server's owner.
    public func url(database: String = "postgres", schema: String? = nil, user: String = "postgres") -> String {
        "postgres://\(user)@/\(database)?host=\(folder)&port=\(port)"
            + (schema.map { "&options=-csearch_path%3D\($0)" } ?? "")
    }

    /// A URL by TCP.
    public func networkURL(
        host: String = "127.0.0.1", database: String = "postgres", schema: String? = nil, user: String = "postgres",
        _ parameters: String...
    ) -> String {
        var parameters = parameters
        if let schema { parameters.append("options=-csearch_path%3D\(schema)") }
        return "postgres://\(user)@\(host):\(port)/\(database)"
            + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }

    /// The authority that the server's certificate for `localhost` is from.
    public var authority: String { "\(folder)/ca.crt" }

    /// An authority that it is not from.
    public var otherAuthority: String { "\(folder)/other.crt" }

    /// Makes a schema of its own for a test, and names it.
    public func freshSchema() async throws -> String {
        let name = "t\(UUID().uuidString.prefix(12).replacing("-", with: "").lowercased())"
        try await query("CREATE SCHEMA \(name)")
        return name
    }

    /// Runs SQL with psql, as the server's owner.
    ///
    /// - Returns: what it printed: one line per row, columns separated by `|`.
    @discardableResult
    public func query(_ sql: String, schema: String? = nil) async throws -> String {
        try await Self.offPool { [folder, port] in
            try PostgresTools().psql(sql, host: folder, port: port, schema: schema)
        }
    }

    /// Ends the server at once, as a crash would, or in order, and starts it again.
    public func restart(crashing: Bool = false) async throws {
        try await stop(crashing: crashing)
        try await resume()
    }

    /// Ends the server, and waits for its end.
    public func stop(crashing: Bool = false) async throws {
        try await Self.offPool { [self] in try supervisor.end(crashing: crashing) }
    }

    /// Ends the server for good, and removes its files.
    public func close() async throws {
        try await Self.offPool { [self] in
            try supervisor.end(crashing: false)
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    /// Starts a server again that was stopped.
    public func resume() async throws {
        try await Self.offPool { [self] in
            try supervisor.begin()
            try awaitAnswer()
        }
    }

    private func awaitAnswer() throws {
        let tools = try PostgresTools()
        for _ in 0..<600 {
            if (try? tools.psql("SELECT 1", host: folder, port: port, schema: nil)) == "1" { return }
            guard supervisor.isRunning else { break }
            // There is nothing to wait on but the server's own readiness.
            usleep(50_000)
        }
        let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "no log"
        throw Failure(description: "PostgreSQL did not start: \(log.suffix(2000))")
    }

    private static func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }
}

/// Starts one server for whoever asks first.
private actor SharedServer {
    private var starting: Task<PostgresServer, any Error>?

    func server() async throws -> PostgresServer {
        let task = starting ?? Task { try await PostgresServer.start() }
        starting = task
        return try await task.value
    }
}
