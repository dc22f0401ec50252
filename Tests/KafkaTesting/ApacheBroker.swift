import Glibc
internal import Kafka
import Synchronization

/// One broker of Apache Kafka in KRaft mode, its own controller, in a temporary folder.
final class ApacheBroker: TestBroker {
    /// Time for it to start; it takes three to six seconds on a machine that is not busy, and only a hang takes as long.
    private static let startLimit = Duration.seconds(300)
    /// A shell starts Kafka, prints its process id, and kills it when its own input ends. Then it removes the folder,
    /// unless a line said `keep`. Kafka's scripts replace themselves by Java, so the id is Java's.
    private static let script = """
        "$@" </dev/null >>"$BROKER_LOG" 2>&1 & child=$!; echo "$child"
        keep=; while read -r line; do keep=$line; done
        kill -9 "$child" 2>/dev/null; wait "$child" 2>/dev/null
        [ -n "$keep" ] || rm -rf "$BROKER_FOLDER"
        """

    let name: String
    let bootstrapServers: String
    private let home: String
    private let folder: String
    private let running = Mutex<(shell: ChildProcess, pid: pid_t)?>(nil)

    var pid: pid_t { running.withLock { $0?.pid ?? 0 } }

    init(home: String) throws(TestKafkaError) {
        self.home = home
        name = "Apache Kafka in \(home)"
        var template = Array("/tmp/grantor-kafka-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw TestKafkaError("no temporary folder: errno \(errno)") }
        folder = String(cString: made)
        let (port, controller) = (try Self.freePort(), try Self.freePort())
        bootstrapServers = "127.0.0.1:\(port)"
        try Self.write(Self.properties(port: port, controller: controller, folder: folder), to: "\(folder)/properties")
        let format = try ChildProcess(
            [
                "/bin/sh", "-c", "\"$0\" format -t \"$1\" -c \"$2\" >\"$2.log\" 2>&1 && echo done",
                "\(home)/bin/kafka-storage.sh", "Z3JhbnRvci10ZXN0cy0wMQ", "\(folder)/properties",
            ], environment: ["LOG_DIR": folder])
        guard format.readLine() == "done" else {
            throw TestKafkaError("Kafka cannot format its storage: \(folder)/properties.log")
        }
        format.end()
        try restart()
    }

    deinit { stop() }

    func createTopic(_ name: String, partitions: Int, configuration: [String: String]) throws(TestKafkaError) {
        let topic = KafkaNewTopic(name: name, partitions: partitions, configuration: configuration)
        do throws(KafkaError) {
            if let error = try admin.createTopics([topic])[name] ?? nil { throw error }
        } catch {
            throw TestKafkaError("the topic \(name) cannot be created: \(error)")
        }
    }

    func kill() throws(TestKafkaError) { end(keepingFolder: true) }

    private func end(keepingFolder: Bool) {
        running.withLock { running in
            if keepingFolder { running?.shell.say("keep") }
            // The shell kills it and waits for its end.
            running?.shell.end()
            running = nil
        }
    }

    func restart() throws(TestKafkaError) {
        let shell = try ChildProcess(
            ["/bin/sh", "-c", Self.script, "sh", "\(home)/bin/kafka-server-start.sh", "\(folder)/properties"],
            environment: [
                "BROKER_FOLDER": folder, "BROKER_LOG": "\(folder)/log", "LOG_DIR": folder,
                "KAFKA_HEAP_OPTS": "-Xmx320m",
            ])
        guard let line = shell.readLine(), let pid = pid_t(line) else {
            throw TestKafkaError("Kafka cannot be started")
        }
        running.withLock { $0 = (shell, pid) }
        let deadline = ContinuousClock.now + Self.startLimit
        while ContinuousClock.now < deadline {
            if let cluster = try? admin.describe(), cluster.brokers > 0 { return }
            guard Glibc.kill(pid, 0) == 0 else { break }
            usleep(50_000)
        }
        throw TestKafkaError("Kafka does not answer: \(folder)/log")
    }

    func stop() { end(keepingFolder: false) }

    private var admin: KafkaAdmin { .forTests(bootstrapServers) }

    private static func properties(port: UInt16, controller: UInt16, folder: String) -> String {
        """
        node.id=1
        process.roles=broker,controller
        controller.quorum.voters=1@127.0.0.1:\(controller)
        controller.listener.names=CONTROLLER
        listeners=PLAIN://127.0.0.1:\(port),CONTROLLER://127.0.0.1:\(controller)
        advertised.listeners=PLAIN://127.0.0.1:\(port)
        listener.security.protocol.map=PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT
        inter.broker.listener.name=PLAIN
        log.dirs=\(folder)/data
        auto.create.topics.enable=false
        offsets.topic.replication.factor=1
        offsets.topic.num.partitions=4
        transaction.state.log.replication.factor=1
        transaction.state.log.num.partitions=4
        transaction.state.log.min.isr=1
        group.initial.rebalance.delay.ms=0
        group.min.session.timeout.ms=1000
        log.cleaner.dedupe.buffer.size=16777216
        num.recovery.threads.per.data.dir=1
        authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
        allow.everyone.if.no.acl.found=true

        """
    }

    private static func write(_ text: String, to path: String) throws(TestKafkaError) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw TestKafkaError("cannot write \(path): errno \(errno)") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw TestKafkaError("cannot write \(path)") }
    }

    /// A port that nobody listens at now. Another process may take it before Kafka does; the start then fails and says
    /// so.
    private static func freePort() throws(TestKafkaError) -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw TestKafkaError("no free port: errno \(errno)") }
        return UInt16(bigEndian: address.sin_port)
    }
}
