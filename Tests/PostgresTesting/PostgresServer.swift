import CLibpq
import Foundation
import Synchronization

/// A PostgreSQL server of a test's own, in a folder below `/tmp`. It ends with this process, however that one ends, and
/// its folder goes with it. It syncs nothing.
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
    private let script: Mutex<ScriptProcess?>

    /// Starts a server and waits until it answers.
    /// - Parameters:
    ///   - settings: Lines of its configuration.
    ///   - hasNetwork: Whether it also listens on 127.0.0.1, with TLS and passwords only. The certificate is for
    ///     `localhost`, see ``certificate``.
    ///   - isStandby: Whether it follows a primary, which there is not, and takes no writes.
    public init(settings: [String] = [], hasNetwork: Bool = false, isStandby: Bool = false) throws {
        port = hasNetwork ? try Self.freePort() : 5432
        var lines = [
            "port = \(port)", "listen_addresses = '\(hasNetwork ? "127.0.0.1" : "")'", "fsync = off",
            "shared_buffers = 32MB", "log_min_messages = warning",
        ]
        if hasNetwork { lines += ["ssl = on", "ssl_cert_file = '../certificate'", "ssl_key_file = '../key'"] }
        let script = try ScriptProcess(
            Self.serving,
            [
                "TEMPLATE": try Self.template.get().folder, "SETTINGS": (lines + settings).joined(separator: "\n"),
                "NETWORK": hasNetwork ? "yes" : "", "STANDBY": isStandby ? "yes" : "",
            ])
        folder = script.firstLine()
        self.script = Mutex(script)
        guard folder.hasPrefix("/") else { throw Failure(description: "PostgreSQL did not start: \(folder)") }
    }

    deinit { stop() }

    /// Ends the server as a crash would, and removes its folder. Once; it does not come back.
    public func stop() {
        let running = script.withLock { script in
            defer { script = nil }
            return script
        }
        running?.end()
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

    // MARK: Scripts

    /// A cluster that has never run, for servers to copy; made once in a process.
    private static let template = Result {
        let script = try ScriptProcess(making)
        let folder = script.firstLine()
        guard folder.hasPrefix("/") else { throw Failure(description: "no PostgreSQL cluster: \(folder)") }
        return (folder: folder, script: script)
    }

    /// Both begin so. A script tells its folder once all is ready, and what went wrong otherwise. It then waits for the
    /// end of its input, also where a terminal interrupts everybody.
    private static let beginning = """
        trap '' INT TERM
        bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
        [ -n "$bin" ] || { echo "it is not installed; scripts/setup.sh --for test does that"; exit 1; }
        folder=$(mktemp -d /tmp/grantor-postgres-XXXXXX) || exit 1
        cd "$folder"
        trap 'cd /; rm -rf "$folder"' EXIT
        fail() { tail -n 5 log | tr '\\n' ' '; exit 1; }
        export LC_ALL=C

        """

    private static let making =
        beginning + """
            "$bin/initdb" -D data -U postgres -A trust -E UTF8 --locale=C -N >log 2>&1 </dev/null || fail
            echo "$folder"
            read -r _
            """

    // A cluster can be a standby once it has run with what standbys need, and it has then to be stopped in order.
    private static let serving =
        beginning + """
            control() { "$bin/pg_ctl" -D data -l log -w -t 180 "$@" >/dev/null 2>&1 </dev/null; }
            cp -a "$TEMPLATE/data" data || fail
            printf "%s\\nunix_socket_directories = '%s'\\n" "$SETTINGS" "$folder" >>data/postgresql.conf
            echo 'local all guarded scram-sha-256
            local all all trust
            hostssl all all 127.0.0.1/32 scram-sha-256' >data/pg_hba.conf
            if [ -n "$NETWORK" ]; then
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \\
                    -addext subjectAltName=DNS:localhost -keyout key -out certificate >log 2>&1 </dev/null || fail
                chmod 0755 . && chmod 0644 certificate && chmod 0600 key
            fi
            if [ -n "$STANDBY" ]; then
                control start && control -m fast stop && touch data/standby.signal || fail
            fi
            control start || fail
            echo "$folder"
            read -r _
            control -m immediate stop
            """

    /// A port that nobody listens at now. Another process may take it before the server does, which then does not
    /// start.
    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure(description: "no free port: errno \(errno)") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
