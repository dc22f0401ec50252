import ChildProcesses
import Glibc
internal import Kafka
import Synchronization

/// One process of Apache Kafka in KRaft mode, broker and controller, in a temporary folder.
final class ApacheBroker: Sendable {
    /// Time for it to start; it takes three to six seconds on a machine that is not busy, and only a hang takes as
    /// long.
    private static let startLimit = Duration.seconds(300)
    /// Time for it to hand its partitions over and end; then it is killed.
    private static let stopLimit = Duration.seconds(60)
    /// A shell starts Kafka, prints its process id, and kills it when its own input ends. Then it removes the folder,
    /// unless a line said `keep`. Kafka's scripts replace themselves by Java, so the id is Java's.
    private static let script = """
        "$@" </dev/null >>"$BROKER_LOG" 2>&1 & child=$!; echo "$child"
        keep=; while read -r line; do keep=$line; done
        kill -9 "$child" 2>/dev/null; wait "$child" 2>/dev/null
        [ -n "$keep" ] || rm -rf "$BROKER_FOLDER"
        """

    let address: String
    /// Where users need a password; nil without such a listener.
    let secureAddress: String?
    private let home: String
    private let folder: String
    private let data: String
    private let running = Mutex<(shell: ChildProcess, pid: pid_t)?>(nil)

    /// 0 while it is killed.
    var pid: pid_t { running.withLock { $0?.pid ?? 0 } }

    /// Formats its storage; it does not start.
    /// - Parameters:
    ///   - ports: of all brokers of its cluster, in the order of their numbers, which begin with 1.
    ///   - dataFolder: for records, empty; nil for one of its own.
    ///   - securePort: of a second listener, for users with a password and no right but those that they are given.
    init(
        home: String, number: Int, ports: [(broker: Int, controller: Int)], dataFolder: String?,
        securePort: Int? = nil
    ) throws(TestKafkaError) {
        self.home = home
        var template = Array("/tmp/grantor-kafka-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw TestKafkaError("no temporary folder: errno \(errno)") }
        folder = String(cString: made)
        address = "127.0.0.1:\(ports[number - 1].broker)"
        secureAddress = securePort.map { "127.0.0.1:\($0)" }
        data = dataFolder.map { "\($0)/data" } ?? "\(folder)/data"
        try Self.write(
            Self.properties(number: number, ports: ports, data: data, secure: secureAddress), to: "\(folder)/properties"
        )
        let format = ChildProcess(
            [
                "/bin/sh", "-c", "\"$0\" format -t \"$1\" -c \"$2\" >\"$2.log\" 2>&1 && echo done",
                "\(home)/bin/kafka-storage.sh", "Z3JhbnRvci10ZXN0cy0wMQ", "\(folder)/properties",
            ], environment: ["LOG_DIR": folder])
        guard let format, format.readLine() == "done" else {
            throw TestKafkaError("Kafka cannot format its storage: \(folder)/properties.log")
        }
        format.end()
    }

    deinit { end(keepingFolder: false) }

    /// Ends it by SIGKILL.
    /// - Parameter keepingFolder: for a later start.
    func end(keepingFolder: Bool) {
        running.withLock { running in
            if keepingFolder { running?.shell.say("keep") }
            // The shell kills it and waits for its end.
            running?.shell.end()
            running = nil
        }
    }

    /// Asks it to hand its partitions over and to end (SIGTERM), and waits for that.
    func stop() {
        Glibc.kill(pid, SIGTERM)
        let deadline = ContinuousClock.now + Self.stopLimit
        while isRunning, ContinuousClock.now < deadline { usleep(20_000) }
        end(keepingFolder: true)
    }

    /// Whether it runs; a broker ends itself when its disk fails.
    var isRunning: Bool {
        let pid = pid
        guard pid > 0, let file = fopen("/proc/\(pid)/stat", "r") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return false }
        // The state stands behind the name in parentheses; the shell has not waited for a process that ended.
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.split(separator: ")").last?.dropFirst().first != "Z"
    }

    /// Turns a bit in the last record of a partition's first segment. A broker that has ended in order does not notice.
    /// One that was killed looks through its segments and drops damaged records.
    func damageLastRecord(of topic: String, partition: Int32) throws(TestKafkaError) {
        let path = "\(data)/\(topic)-\(partition)/00000000000000000000.log"
        guard let file = fopen(path, "r+") else { throw TestKafkaError("cannot open \(path): errno \(errno)") }
        defer { fclose(file) }
        // The last byte counts headers; the value ends before it.
        guard fseek(file, -2, SEEK_END) == 0 else { throw TestKafkaError("cannot read \(path)") }
        let byte = fgetc(file)
        guard byte != EOF, fseek(file, -2, SEEK_END) == 0, fputc(byte ^ 1, file) != EOF else {
            throw TestKafkaError("cannot change \(path)")
        }
    }

    /// Starts it with its former data, and does not wait.
    func launch() throws(TestKafkaError) {
        let shell = ChildProcess(
            ["/bin/sh", "-c", Self.script, "sh", "\(home)/bin/kafka-server-start.sh", "\(folder)/properties"],
            environment: [
                "BROKER_FOLDER": folder, "BROKER_LOG": "\(folder)/log", "LOG_DIR": folder,
                "KAFKA_HEAP_OPTS": "-Xmx320m",
            ])
        guard let shell, let line = shell.readLine(), let pid = pid_t(line) else {
            throw TestKafkaError("Kafka cannot be started")
        }
        running.withLock { $0 = (shell, pid) }
    }

    /// Waits until it lists at least so many brokers.
    func waitUntilItAnswers(brokers: Int) throws(TestKafkaError) {
        let deadline = ContinuousClock.now + Self.startLimit
        // It may have ended in the middle of a question.
        let admin = KafkaAdmin.forTests(address, timeout: .seconds(5))
        while ContinuousClock.now < deadline {
            if let cluster = try? admin.describe(), cluster.brokers >= brokers { return }
            guard isRunning else { break }
            usleep(50_000)
        }
        throw TestKafkaError("Kafka does not answer: \(folder)/log")
    }

    /// Topics are kept by three brokers where there are three, and writes need two of them.
    private static func properties(
        number: Int, ports: [(broker: Int, controller: Int)], data: String, secure: String?
    ) -> String {
        let own = ports[number - 1]
        let voters = ports.enumerated().map { "\($0 + 1)@127.0.0.1:\($1.controller)" }.joined(separator: ",")
        let replicas = min(3, ports.count)
        let inSync = max(1, replicas - 1)
        let listener = secure.map { ",SECURE://\($0)" } ?? ""
        let rights = secure == nil ? ports.count == 1 ? authorizer : "" : users
        return """
            node.id=\(number)
            process.roles=broker,controller
            controller.quorum.voters=\(voters)
            controller.listener.names=CONTROLLER
            listeners=PLAIN://127.0.0.1:\(own.broker),CONTROLLER://127.0.0.1:\(own.controller)\(listener)
            advertised.listeners=PLAIN://127.0.0.1:\(own.broker)\(listener)
            listener.security.protocol.map=PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_PLAINTEXT
            inter.broker.listener.name=PLAIN
            log.dirs=\(data)
            auto.create.topics.enable=false
            default.replication.factor=\(replicas)
            min.insync.replicas=\(inSync)
            offsets.topic.replication.factor=\(replicas)
            offsets.topic.num.partitions=4
            transaction.state.log.replication.factor=\(replicas)
            transaction.state.log.num.partitions=4
            transaction.state.log.min.isr=\(inSync)
            broker.session.timeout.ms=6000
            group.initial.rebalance.delay.ms=0
            group.min.session.timeout.ms=1000
            log.cleaner.dedupe.buffer.size=16777216
            num.recovery.threads.per.data.dir=1
            \(rights)

            """
    }

    /// Several brokers cannot ask one another for their votes before it is ready, and it is not ready before the vote.
    private static let authorizer = """
        authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
        allow.everyone.if.no.acl.found=true
        """

    /// Users with a password have the given rights, and users of the plain listener all rights.
    private static let users = """
        authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
        super.users=User:ANONYMOUS
        sasl.enabled.mechanisms=PLAIN
        listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
          user_\(SecuredKafka.user)="\(SecuredKafka.password)";
        """

    private static func write(_ text: String, to path: String) throws(TestKafkaError) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw TestKafkaError("cannot write \(path): errno \(errno)") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw TestKafkaError("cannot write \(path)") }
    }
}
