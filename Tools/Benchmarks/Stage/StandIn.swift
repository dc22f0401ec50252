import Foundation

/// Apple's stand-in, `grantor-simulator`, as a process of its own. It can go away and come back at the same address.
final class StandIn {
    private let program: String
    private let folder: String
    private var process: ChildProgram?
    private var ports: [String] = []
    /// Addresses and files, by the names that the program gives them.
    private(set) var addresses: [String: String] = [:]

    /// - Parameters:
    ///   - folder: Holds the authority that it shares with the load.
    ///   - latency: Milliseconds that every answer takes.
    init(program: String, folder: String, latency: Int) throws {
        (self.program, self.folder) = (program, folder)
        try start(latency: latency)
        // Later it has to be found where it was.
        ports = try ["production", "sandbox"].flatMap { environment in
            let port = try address("\(environment)URL").split(separator: ":").last?.prefix { $0.isNumber }
            return ["--\(environment)-port", String(port ?? "")]
        }
    }

    func start(latency: Int) throws {
        let started = try ChildProgram(
            [program, "--authority-folder", folder + "/authority", "--latency", "\(latency)"] + ports,
            log: folder + "/apple.log")
        process = started
        guard let line = started.readLine() else { throw BenchFailure("\(program) has not started") }
        addresses = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
    }

    func stop() throws {
        try process?.stop()
        process = nil
    }

    /// Zero while it is away.
    var pid: pid_t { process?.pid ?? 0 }

    func address(_ name: String) throws(BenchFailure) -> String {
        guard let address = addresses[name] else { throw BenchFailure("Apple's stand-in tells no \(name)") }
        return address
    }
}
