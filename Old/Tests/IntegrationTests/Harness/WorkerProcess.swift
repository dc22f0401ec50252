import Foundation
import FoundationNetworking
import Glibc
import SystemTesting

/// `grantor run` in a process of its own.
final class WorkerProcess: Sendable {
    let process: ChildProcess

    init(environment: [String: String], in folder: URL, name: String) throws {
        process = try ChildProcess(
            Executables.built("grantor"), ["run"], environment: environment, in: folder, name: name)
    }

    /// Everything it has written, logs above all.
    var text: String { process.output.text + process.errors.text }

    /// Waits until `/readyz` answers 200: partitions are assigned.
    @discardableResult
    func ready(within limit: Duration = .seconds(60)) async throws -> Self {
        try await eventually("\(process.name) is ready", within: limit) {
            try process.checkAlive()
            return try await get("/readyz")?.status == 200 ? true : nil
        }
        return self
    }

    /// Asks it to stop in order (SIGTERM) and waits for the end.
    func stop(within limit: Duration = .seconds(30)) async throws -> ChildProcess.Exit {
        process.kill(SIGTERM)
        return try await process.exit(within: limit)
    }

    /// Ends it where it stands (SIGKILL).
    func kill() async throws {
        process.kill(SIGKILL)
        _ = try await process.exit(within: .seconds(10))
    }

    /// Asks the health server; nil while it does not answer.
    func get(_ path: String) async throws -> (status: Int, text: String)? {
        guard let port, let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { return nil }
        // A worker that is only just starting or already stopping refuses connections.
        guard let (data, response) = try? await URLSession.shared.data(from: url),
            let status = (response as? HTTPURLResponse)?.statusCode
        else { return nil }
        return (status, String(decoding: data, as: UTF8.self))
    }

    /// Memory that it occupies now, in MiB; nil once it has ended.
    var residentMebibytes: Int? {
        guard let status = try? String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return kilobytes / 1024
    }

    /// Where the health server listens, as its log says.
    private var port: Int? {
        struct Line: Decodable {
            let message: String?
            let port: String?
        }
        for line in text.split(separator: "\n") where line.contains("Health and metrics are served") {
            if let line = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)), let port = line.port {
                return Int(port)
            }
        }
        return nil
    }
}
