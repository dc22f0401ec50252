import ChildProcesses
public import Glibc
public import Kafka
import Logging
import Synchronization

/// A broker for tests: Apache Kafka where `KAFKA_HOME` names the folder that one was unpacked to, else librdkafka's
/// mock.
///
/// Each is a process of its own on loopback, which ends with the test process. Its faults are those of a process:
/// killed, frozen, started again. Tests share ``shared`` and give topics and groups names of their own; a test that
/// breaks the broker starts one for itself.
public final class TestKafka: Sendable {
    enum Kind: Hashable, Sendable {
        /// Brokers in KRaft mode.
        case apache(home: String)
        case mock
    }

    /// The broker that tests share; it starts with the first that asks.
    public static var shared: TestKafka {
        get throws(TestKafkaError) {
            switch broker {
            case .success(let kafka): return kafka
            case .failure(let error): throw error
            }
        }
    }

    private static let broker: Result<TestKafka, TestKafkaError> = {
        do throws(TestKafkaError) {
            let kafka = try TestKafka()
            print("Kafka for these tests: \(kafka.name), \(kafka.bootstrapServers)")
            return .success(kafka)
        } catch {
            return .failure(error)
        }
    }()

    /// Whether tests run on Apache Kafka: the mock forgets everything when it is killed, and deletes nothing.
    public static var isApache: Bool { if case .apache = kind { true } else { false } }

    static let kind: Kind = {
        guard let home = getenv("KAFKA_HOME").map({ String(cString: $0) }), !home.isEmpty else { return .mock }
        return .apache(home: home)
    }()

    /// Longest wait for something that must come, on a machine that is busy with much else.
    public static let patience = Duration.seconds(180)

    private static let names = Atomic(0)

    public let bootstrapServers: String
    let broker: any TestBroker

    /// Starts a broker and waits until it answers.
    public convenience init() throws(TestKafkaError) { try self.init(Self.kind) }

    /// Starts librdkafka's mock, also where Apache Kafka is at hand: only the mock gives replies on request.
    public static func mock() throws(TestKafkaError) -> TestKafka { try TestKafka(.mock) }

    private convenience init(_ kind: Kind) throws(TestKafkaError) {
        switch kind {
        case .apache(let home): self.init(broker: try ApacheCluster(home: home))
        case .mock: self.init(broker: try MockBroker())
        }
    }

    init(broker: any TestBroker) {
        self.broker = broker
        bootstrapServers = broker.bootstrapServers
    }

    /// The program that runs.
    public var name: String { broker.name }

    /// The brokers' processes.
    public var pids: [pid_t] { broker.pids }

    /// A name that no other test of any run has.
    public static func uniqueName(_ prefix: String) -> String {
        "\(prefix)-\(getpid())-\(names.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// Creates a topic; topic properties have an effect on Apache Kafka only.
    public func createTopic(
        _ name: String, partitions: Int = 1, configuration: [String: String] = [:]
    ) throws(TestKafkaError) {
        try broker.createTopic(name, partitions: partitions, configuration: configuration)
    }

    /// Creates a topic under a name of its own.
    public func makeTopic(
        _ prefix: String = "topic", partitions: Int = 1, configuration: [String: String] = [:]
    ) throws(TestKafkaError) -> String {
        let name = Self.uniqueName(prefix)
        try createTopic(name, partitions: partitions, configuration: configuration)
        return name
    }

    /// Kills the broker (SIGKILL); the mock closes its connections and accepts none, since it would forget everything.
    public func kill() throws(TestKafkaError) { try broker.kill() }

    /// Starts the killed broker again at the same address, with its former data, and waits until it answers.
    public func restart() throws(TestKafkaError) { try broker.restart() }

    /// Makes the mock answer the next requests of a kind with an error.
    ///
    /// - Parameters:
    ///   - apiKey: the request's number in Kafka's protocol.
    ///   - code: the error's.
    public func answer(_ count: Int, ofAPI apiKey: Int16, withError code: Int32) throws(TestKafkaError) {
        guard let mock = broker as? MockBroker else { throw TestKafkaError("only the mock answers as it is told") }
        try mock.command("error \(apiKey) \(code) \(count)")
    }

    /// Freezes the broker (SIGSTOP): connections stay open and nothing is answered.
    public func pause() { signal(SIGSTOP) }

    /// Lets the frozen broker go on (SIGCONT).
    public func resume() { signal(SIGCONT) }

    private func signal(_ number: Int32) {
        for pid in broker.pids where pid > 0 { Glibc.kill(pid, number) }
    }

    /// Ends the broker and removes its data. The end of the last reference does the same.
    public func stop() { broker.stop() }

    /// A client of this broker, with times that suit tests.
    public var client: KafkaClientConfiguration {
        KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: "tests", properties: properties)
    }

    /// Sessions of Apache Kafka are as long as may be, so that no machine is too busy for a heartbeat. The mock
    /// waits a session less a second at each rebalance after the first, and with an empty answer the whole wait.
    private var properties: [String: String] {
        [
            "session.timeout.ms": Self.isApache ? "20000" : "3000", "heartbeat.interval.ms": "300",
            "fetch.wait.max.ms": "20", "reconnect.backoff.max.ms": "500",
        ]
    }
}

extension KafkaAdmin {
    /// Asks a test's broker. Only a hang takes as long as its limit.
    static func forTests(_ bootstrapServers: String, timeout: Duration = TestKafka.patience) -> KafkaAdmin {
        var logger = Logger(label: "test-kafka")
        logger.logLevel = .critical
        return KafkaAdmin(
            configuration: KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: "test-kafka"),
            logger: logger, timeout: timeout)
    }
}

/// One kind of broker.
protocol TestBroker: Sendable {
    var name: String { get }
    var bootstrapServers: String { get }
    var pids: [pid_t] { get }
    func createTopic(_ name: String, partitions: Int, configuration: [String: String]) throws(TestKafkaError)
    func kill() throws(TestKafkaError)
    func restart() throws(TestKafkaError)
    func stop()
}

/// librdkafka's mock cluster in a process of its own: the executable `kafka-mock`, built beside the tests.
final class MockBroker: TestBroker {
    let bootstrapServers: String
    private let process: ChildProcess

    var name: String { "librdkafka's mock" }
    var pids: [pid_t] { [process.pid] }

    init() throws(TestKafkaError) {
        guard let started = ChildProcess([try Self.path()]), let line = started.readLine(),
            line.hasPrefix("BOOTSTRAP ")
        else { throw TestKafkaError("kafka-mock has not started") }
        process = started
        bootstrapServers = String(line.dropFirst("BOOTSTRAP ".count))
    }

    func createTopic(_ name: String, partitions: Int, configuration: [String: String]) throws(TestKafkaError) {
        try command("topic \(name) \(partitions)")
    }

    func kill() throws(TestKafkaError) { try command("down 1") }
    func restart() throws(TestKafkaError) { try command("up 1") }
    func stop() {
        Glibc.kill(process.pid, SIGCONT)
        process.end()
    }

    func command(_ line: String) throws(TestKafkaError) {
        process.say(line)
        let answer = process.readLine() ?? "it has ended"
        guard answer == "OK" else { throw TestKafkaError("kafka-mock: \(line): \(answer)") }
    }

    private static func path() throws(TestKafkaError) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { throw TestKafkaError("/proc/self/exe cannot be read") }
        let program = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The test's bundle stands beside the executables of its build.
        let folder = program.split(separator: "/").dropLast().joined(separator: "/")
        let path = "/\(folder)/kafka-mock"
        guard access(path, X_OK) == 0 else { throw TestKafkaError("there is no \(path): build the product kafka-mock") }
        return path
    }
}

/// The reason that a test's cluster cannot be had or changed.
public struct TestKafkaError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
