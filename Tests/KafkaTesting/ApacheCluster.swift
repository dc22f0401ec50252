import ChildProcesses
import Glibc
internal import Kafka
import SocketTesting

/// Brokers of Apache Kafka, one or several, which break one by one or all together.
final class ApacheCluster: TestBroker {
    let name: String
    let bootstrapServers: String
    let home: String
    let brokers: [ApacheBroker]

    var pids: [pid_t] { brokers.map(\.pid) }

    /// Starts brokers and waits until they answer.
    /// - Parameter dataFolders: one for each broker's records, empty; none for folders of their own.
    /// - Parameter isSecured: Whether the brokers have a second listener, for users with passwords.
    init(
        home: String, brokers count: Int = 1, dataFolders: [String] = [], isSecured: Bool = false
    ) throws(TestKafkaError) {
        self.home = home
        name = (count == 1 ? "" : "\(count) brokers of ") + "Apache Kafka in \(home)"
        let ports: [Int]
        do throws(Loopback.Failure) {
            ports = try Loopback.freePorts(3 * count)
        } catch {
            throw TestKafkaError("no free port: \(error)")
        }
        let pairs = (0..<count).map { (broker: ports[2 * $0], controller: ports[2 * $0 + 1]) }
        var made: [ApacheBroker] = []
        for number in 1...count {
            let folder = dataFolders.isEmpty ? nil : dataFolders[number - 1]
            made.append(
                try ApacheBroker(
                    home: home, number: number, ports: pairs, dataFolder: folder,
                    securePort: isSecured ? ports[2 * count + number - 1] : nil))
        }
        brokers = made
        bootstrapServers = made.map(\.address).joined(separator: ",")
        try restart()
    }

    func createTopic(_ name: String, partitions: Int, configuration: [String: String]) throws(TestKafkaError) {
        let topic = KafkaNewTopic(name: name, partitions: partitions, configuration: configuration)
        do throws(KafkaError) {
            try KafkaAdmin.forTests(bootstrapServers).createTopics([topic])[name]?.get()
        } catch {
            throw TestKafkaError("the topic \(name) cannot be created: \(error)")
        }
    }

    func kill() throws(TestKafkaError) {
        for broker in brokers { broker.end(keepingFolder: true) }
    }

    func restart() throws(TestKafkaError) {
        // None answers before most of them are up.
        for broker in brokers { try broker.launch() }
        for broker in brokers { try broker.waitUntilItAnswers(brokers: brokers.count) }
    }

    func stop() {
        for broker in brokers { broker.end(keepingFolder: false) }
    }
}

/// Faults of one broker among several.
extension TestKafka {
    /// Starts a cluster of Apache Kafka, whose topics are kept by three brokers, and whose writes need two of them.
    /// - Parameter dataFolders: one for each broker's records, empty; none for folders of their own.
    public static func cluster(brokers: Int, dataFolders: [String] = []) throws(TestKafkaError) -> TestKafka {
        guard case .apache(let home) = kind else {
            throw TestKafkaError("several brokers are Apache Kafka's: set KAFKA_HOME")
        }
        return TestKafka(broker: try ApacheCluster(home: home, brokers: brokers, dataFolders: dataFolders))
    }

    /// Kills a broker (SIGKILL). Brokers are counted from 0.
    public func kill(broker: Int) { one(broker)?.end(keepingFolder: true) }

    /// Lets a broker hand its partitions over and end (SIGTERM).
    public func stop(broker: Int) { one(broker)?.stop() }

    /// Starts a broker that has ended, with its former data, and waits until it answers.
    public func start(broker: Int) throws(TestKafkaError) {
        guard let one = one(broker) else { return }
        // It may have ended by itself.
        one.end(keepingFolder: true)
        try one.launch()
        try one.waitUntilItAnswers(brokers: 1)
    }

    /// Damages the last record of a partition, on a broker that was stopped (``stop(broker:)``).
    public func damageLastRecord(of topic: String, partition: Int32, broker: Int) throws(TestKafkaError) {
        try one(broker)?.damageLastRecord(of: topic, partition: partition)
    }

    /// Freezes a broker (SIGSTOP).
    public func pause(broker: Int) { signal(broker, SIGSTOP) }

    /// Lets a frozen broker go on (SIGCONT).
    public func resume(broker: Int) { signal(broker, SIGCONT) }

    /// Whether a broker's process runs.
    public func isRunning(broker: Int) -> Bool { one(broker)?.isRunning ?? false }

    /// Gives the lead of every partition back to the broker that comes first among those that keep it.
    public func electPreferredLeaders() throws(TestKafkaError) {
        guard let cluster = broker as? ApacheCluster else { return }
        let election = ChildProcess([
            "/bin/sh", "-c", "\"$@\" >/dev/null 2>&1; echo done", "sh", "\(cluster.home)/bin/kafka-leader-election.sh",
            "--bootstrap-server", bootstrapServers, "--election-type", "preferred", "--all-topic-partitions",
        ])
        guard let election, election.readLine() == "done" else {
            throw TestKafkaError("kafka-leader-election.sh cannot be started")
        }
        election.end()
    }

    private func one(_ broker: Int) -> ApacheBroker? { (self.broker as? ApacheCluster)?.brokers[broker] }

    private func signal(_ broker: Int, _ number: Int32) {
        guard let pid = one(broker)?.pid, pid > 0 else { return }
        Glibc.kill(pid, number)
    }
}
