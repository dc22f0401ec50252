import AppStoreSimulator
import FoundationEssentials
import Glibc
import Ledger
import LedgerPostgres

/// The parts of docker-compose.yml, seen from the container of the service `demo` beside them. Docker's socket and
/// command line are there, because the demo kills parts.
final class Containers: Stage {
    private static let docker = "/usr/bin/docker"
    private static let workers = "demo-worker"
    /// Longest time for a part to be healthy.
    private static let healthLimit = Duration.seconds(180)
    /// Time for a part to end by itself.
    private static let stopTime = "30"

    let parts = "Kafka, PostgreSQL and four workers in containers"
    let apple: (host: String, productionPort: Int, sandboxPort: Int)? = ("apple", 8443, 8444)
    let folder: String
    let bootstrapServers: String
    let traces = "The workers are stopped. Kafka and PostgreSQL run on, until you end them with Ctrl-C."
    private let ledgerConfiguration: PostgresLedgerConfiguration
    private let project: String

    /// - Parameters:
    ///   - folder: a volume that the workers see at the same place; it is emptied.
    ///   - environment: the settings that a worker has for its broker and its ledger.
    init(folder: String, environment: (String) -> String?) throws {
        func setting(_ name: String) throws(DemoFailure) -> String {
            guard let value = environment(name) else { throw DemoFailure("\(name) is not set") }
            return value
        }
        self.folder = folder
        bootstrapServers = try setting("GRANTOR_KAFKA_BOOTSTRAP_SERVERS")
        ledgerConfiguration = try PostgresLedgerConfiguration(
            url: setting("GRANTOR_LEDGER_URL"), password: Self.password(in: setting("GRANTOR_LEDGER_PASSWORD_FILE")))
        // A container's name on its network is its id unless somebody says otherwise.
        let label = #"{{index .Config.Labels "com.docker.compose.project"}}"#
        project = try Self.run("inspect", "--format", label, setting("HOSTNAME"))
        empty(folder: folder)
    }

    /// Of the stack's own secret, a line.
    private static func password(in file: String) -> PasswordSource {
        { () throws(LedgerError) in
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw .unusable(detail: "\(file) cannot be read")
            }
            return String(text.prefix { !$0.isNewline })
        }
    }

    var accidents: [Accident] {
        [
            Accident(text: "killed a worker (kill -9), which was started again") { [self] in
                try kill(try ids(of: Self.workers).prefix(1))
            },
            Accident(text: "killed PostgreSQL (kill -9), which was started again") { [self] in
                try kill(try ids(of: "postgres"))
                try wait(for: "postgres")
            },
            Accident(text: "killed Kafka (kill -9), which was started again") { [self] in
                try kill(try ids(of: "kafka"))
                try wait(for: "kafka")
            },
        ]
    }

    /// The workers' user is another one than the demo's, so all may read these made-up secrets.
    func prepare(apple: AppStoreSimulator.Endpoints, key: ServerAPIKey) throws {
        try WorkerFiles(folder: folder, mode: 0o444).write(key: key)
    }

    func start() throws(DemoFailure) { try wait(for: Self.workers) }

    func mustRun() throws(DemoFailure) {
        guard try !ids(of: Self.workers).isEmpty else { throw DemoFailure("no worker runs") }
    }

    func stop() throws(DemoFailure) -> Bool {
        let workers = try ids(of: Self.workers)
        _ = try Self.run(["stop", "--time", Self.stopTime] + workers)
        let codes = try Self.run(["inspect", "--format", "{{.State.ExitCode}}"] + workers)
        return codes.split(separator: "\n").allSatisfy { $0 == "0" }
    }

    func ledger() throws(LedgerError) -> any LedgerOperator { try PostgresLedger(ledgerConfiguration) }

    /// Workers are always stopped, because they believe an App Store that is none. If all went well, broker and
    /// database are stopped, so that `docker compose up` ends. Else they stay for a look.
    func end(passed: Bool) {
        let services = passed ? [Self.workers, "kafka", "postgres"] : [Self.workers]
        guard let parts = try? services.flatMap({ try ids(of: $0) }), !parts.isEmpty else { return }
        _ = try? Self.run(["stop", "--time", Self.stopTime] + parts)
    }

    /// Containers of a service that run.
    private func ids(of service: String) throws(DemoFailure) -> [String] {
        let labels = ["project=\(project)", "service=\(service)"].flatMap {
            ["--filter", "label=com.docker.compose.\($0)"]
        }
        return try Self.run(["ps", "--quiet"] + labels).split(separator: "\n").map(String.init)
    }

    private func kill(_ ids: some Collection<String>) throws(DemoFailure) {
        _ = try Self.run(["kill", "--signal", "KILL"] + ids)
        _ = try Self.run(["start"] + ids)
    }

    /// Waits until each container of a service is healthy, and there is one.
    private func wait(for service: String) throws(DemoFailure) {
        let end = ContinuousClock.now + Self.healthLimit
        while true {
            let ids = try ids(of: service)
            let states = ids.isEmpty ? "" : try Self.run(["inspect", "--format", "{{.State.Health.Status}}"] + ids)
            if !ids.isEmpty, states.split(separator: "\n").allSatisfy({ $0 == "healthy" }) { return }
            guard ContinuousClock.now < end else { throw DemoFailure("\(service) is not healthy") }
            sleep(1)
        }
    }

    private static func run(_ words: String...) throws(DemoFailure) -> String { try run(words) }

    /// - Returns: the text that Docker prints, without the last line's end.
    private static func run(_ words: [String]) throws(DemoFailure) -> String {
        let program = try ChildProgram(piped: [docker] + words, log: "/dev/stderr")
        var lines: [String] = []
        while let line = program.readLine() { lines.append(line) }
        guard program.waitForEnd(within: .seconds(60)) == 0 else { throw DemoFailure("docker \(words[0]) failed") }
        return lines.joined(separator: "\n")
    }
}
