import Foundation
import SystemTesting

/// PostgreSQL's programs, run as a user that they accept.
struct PostgresTools: Sendable {
    private let programs: String

    init() throws {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
        guard let newest = versions.max() else {
            throw PostgresServer.Failure(
                description: "PostgreSQL is not installed; scripts/setup.sh --for test installs it")
        }
        programs = "\(root)/\(newest)/bin"
    }

    /// The server refuses to run as root.
    private var isRoot: Bool { geteuid() == 0 }

    /// What `install` is told so that the server's user owns a file.
    var ownership: [String] { isRoot ? ["-o", "postgres", "-g", "postgres"] : [] }

    /// The words of a command that the server's user runs.
    func asServer(_ program: String, _ arguments: [String]) -> [String] {
        let command = ["\(programs)/\(program)"] + arguments
        return isRoot
            ? ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + command : command
    }

    func runAsServer(_ program: String, _ arguments: [String]) throws {
        let command = asServer(program, arguments)
        try run(command[0], Array(command.dropFirst()))
    }

    func psql(_ sql: String, host: String, port: Int, schema: String?) throws -> String {
        var options = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", host, "-p", "\(port)", "-U", "postgres"]
        if let schema { options += ["-c", "SET search_path = \(schema)"] }
        return try run("\(programs)/psql", options + ["-d", "postgres", "-c", sql])
    }

    func append(_ text: String, to path: String) throws {
        try replace(path, with: try String(contentsOfFile: path, encoding: .utf8) + text)
    }

    /// Writes into a file that is there, which keeps its owner.
    func replace(_ path: String, with text: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    /// Runs a program to its end.
    ///
    /// - Returns: what it wrote to standard output, without the last line's end.
    @discardableResult
    func run(_ program: String, _ arguments: [String]) throws -> String {
        // The server's user may not see the folder that this process is in, and its programs look.
        let ended = try Spawn.run(["/bin/sh", "-c", "cd / && exec \"$@\"", "sh", program] + arguments)
        guard ended.code == 0 else {
            let end = ended.code.map { "ended with \($0)" } ?? "was ended by a signal"
            throw PostgresServer.Failure(description: "\(program) \(arguments.first ?? "") \(end): \(ended.errors)")
        }
        let text = ended.output
        return text.last == "\n" ? String(text.dropLast()) : text
    }
}
