import Foundation
import Glibc
import Synchronization
import SystemTesting

/// A broker that keeps its data over a restart in order. Never expires members, so one per group.
final class NoidaBroker: Broker {
    /// Looks at its file without a change, ten milliseconds apart: twice as long as it takes to write anew.
    private static let restingLooks = 60

    private let folder: URL
    private let port: Int
    private let process: Mutex<ChildProcess>

    var bootstrapServers: String { "127.0.0.1:\(port)" }

    /// It ignores fetch limits: a backlog may come as one answer.
    let properties = [
        "session.timeout.ms": "6000", "fetch.wait.max.ms": "10", "receive.message.max.bytes": "200000000",
    ]

    private init(folder: URL, port: Int, process: ChildProcess) {
        self.folder = folder
        self.port = port
        self.process = Mutex(process)
    }

    static func start(in folder: URL) async throws -> NoidaBroker {
        let port = try FreePort.find()
        let broker = NoidaBroker(folder: folder, port: port, process: try Self.launch(in: folder, port: port))
        try await Topic.create(on: broker, in: folder)
        return broker
    }

    /// Waits until it has nothing new: it writes all that it has to one file, again and again while something changes.
    func rest() async throws {
        let file = folder.appending(path: "noida/kafka.json").path
        var last: NSDictionary?
        var looks = 0
        try await eventually("the broker rests", within: .seconds(20)) {
            let attributes = try FileManager.default.attributesOfItem(atPath: file) as NSDictionary
            looks = attributes == last ? looks + 1 : 0
            last = attributes
            return looks == Self.restingLooks ? true : nil
        }
    }

    /// Stops it in order and waits until it is gone.
    func stop() async throws {
        let running = process.withLock { $0 }
        running.kill(SIGTERM)
        _ = try await running.exit(within: .seconds(20))
    }

    /// Starts it again with its data on the same port.
    func restart() throws {
        let next = try Self.launch(in: folder, port: port)
        process.withLock { $0 = next }
    }

    private static func launch(in folder: URL, port: Int) throws -> ChildProcess {
        let data = folder.appending(path: "noida").path
        return try ChildProcess(
            Executables.installed(["lib", "python3*", "site-packages", "noida_db", "noida-db"]),
            ["start", "--only", "kafka", "--kafka-port", String(port), "--data-dir", data],
            environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin"], in: folder, name: "noida")
    }
}
