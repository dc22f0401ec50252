import Configuration
import Contract
import Kafka
import Ledger
import Worker

/// `grantor check` of brokers, rights and topics.
struct KafkaCheck {
    /// Where the rights stand that each kind of user needs.
    private static let page = "docs/configuration.md#rights"

    let settings: KafkaSettings
    let cluster: any ClusterAdmin
    private let description: Result<KafkaClusterDescription, KafkaError>

    init(settings: KafkaSettings, cluster: any ClusterAdmin) {
        self.settings = settings
        self.cluster = cluster
        description = Result { () throws(KafkaError) in try cluster.describe() }
    }

    /// The lines, and whether the group may be looked at.
    func results() -> (lines: [CheckLine], rights: KafkaRights?) {
        do throws(KafkaError) {
            let description = try description.get()
            let present = settings.topics.inUse.filter { topic in
                if case .present = description.topics[settings.topics[topic]] { true } else { false }
            }
            // No other broker can be asked then, and each question would wait for its whole time.
            if let line = unreachable(description) { return ([line], nil) }
            let rights = cluster.rights(
                toRead: settings.topics[.submitted], as: settings.groupID,
                toWrite: present.filter { $0 != .submitted }.map { settings.topics[$0] })
            let lines =
                [broker(description, rights), group(rights)]
                + topics(description, configurations(of: present.map { settings.topics[$0] }), rights)
            return (lines, rights)
        } catch {
            let detail = "\(settings.bootstrapServers) does not answer: \(settings.words(error))"
            return ([CheckLine("broker", .failed, detail)], nil)
        }
    }

    /// The brokers list all their addresses, and a worker talks to each. A broker that cannot be reached there keeps
    /// its partitions from the worker, whichever broker replied first.
    private func unreachable(_ description: KafkaClusterDescription) -> CheckLine? {
        do throws(KafkaError) {
            try cluster.reachBrokers()
            return nil
        } catch {
            return CheckLine(
                "broker", .failed,
                "\(description.brokers) known; one cannot be reached at the address that it advertises: "
                    + settings.words(error))
        }
    }

    /// The group's committed offsets of the input topic's partitions; none where broker or topic are missing, for which
    /// there are other lines.
    func committed() -> Result<[TopicPartition: Int64], KafkaError> {
        guard case .success = description else { return .success([:]) }
        return Result { () throws(KafkaError) in try committedOffsets() }
    }

    /// The group, with the cluster's id if a broker names it.
    func group() throws(KafkaError) -> ConsumerGroup {
        settings.group(cluster: try description.get().id)
    }

    /// The group's committed offsets of the input topic's partitions.
    func committedOffsets() throws(KafkaError) -> [TopicPartition: Int64] {
        let topic = settings.topics[.submitted]
        guard case .present(let found)? = try description.get().topics[topic] else { return [:] }
        let partitions = (0..<Int32(clamping: found.count)).map { TopicPartition(topic: topic, partition: $0) }
        return try cluster.committedOffsets(of: settings.groupID, in: partitions)
    }

    // MARK: Rights

    private func broker(_ description: KafkaClusterDescription, _ rights: KafkaRights) -> CheckLine {
        var finding = TopicRequirements.Finding()
        finding.add(
            rights.idempotence, "this user may not write idempotently; give it IdempotentWrite on the cluster",
            "it may write idempotently", settings)
        return CheckLine(
            "broker", "\(description.brokers) reachable", failures: finding.failures, warnings: finding.warnings)
    }

    private func group(_ rights: KafkaRights) -> CheckLine {
        var finding = TopicRequirements.Finding()
        finding.add(
            rights.group, "this user may not read it; give it Read on the group (\(Self.page))",
            "it may read the group",
            settings)
        return CheckLine(
            "group \(settings.groupID)",
            finding.isGood ? "may be read" : finding.failures.isEmpty ? "not known" : "not usable",
            failures: finding.failures,
            warnings: finding.warnings)
    }

    private func right(to topic: Topic, _ rights: KafkaRights, _ finding: inout TopicRequirements.Finding) {
        if topic == .submitted {
            finding.add(
                rights.input, "this user may not read it; give it Read on the topic (\(Self.page))", "it may read it",
                settings)
        } else if let right = rights.outputs[settings.topics[topic]] {
            finding.add(
                right, "this user may not write into it; give it Write on the topic (\(Self.page))",
                "it may write into it", settings)
        }
    }

    // MARK: Topics

    /// The properties of topics, or why they are not known.
    private func configurations(of names: [String]) -> [String: Result<[String: String], KafkaError>] {
        do throws(KafkaError) {
            return try cluster.topicConfigurations(of: names)
        } catch {
            return Dictionary(names.map { ($0, .failure(error)) }) { first, _ in first }
        }
    }

    private func topics(
        _ description: KafkaClusterDescription, _ answers: [String: Result<[String: String], KafkaError>],
        _ rights: KafkaRights
    ) -> [CheckLine] {
        let configurations = answers.compactMapValues { try? $0.get() }
        var input: TopicRequirements.Found?
        return settings.topics.inUse.map { topic in
            let name = settings.topics[topic]
            switch description.topics[name] {
            case .missing, nil: return absent(topic)
            case .failed(let error): return CheckLine("topic \(name)", .failed, settings.words(error))
            case .present(let partitions):
                let properties = configurations[name] ?? [:]
                var finding = TopicRequirements.finding(
                    on: topic, partitions, properties, brokers: description.brokers)
                let found = TopicRequirements.Found(partitions, properties)
                if topic == .submitted {
                    input = found
                } else if let input {
                    TopicRequirements.compare(topic, found, input, &finding)
                }
                right(to: topic, rights, &finding)
                if configurations[name] == nil { finding.warnings.append(untold(answers[name])) }
                let copies = partitions.replicas.of("replica", "replicas")
                let size = "\(partitions.count.of("partition", "partitions")), \(copies)"
                return CheckLine("topic \(name)", size, failures: finding.failures, warnings: finding.warnings)
            }
        }
    }

    /// A topic that the brokers do not list: it is missing, or hidden from this user.
    private func absent(_ topic: Topic) -> CheckLine {
        let name = settings.topics[topic]
        let line = "topic \(name)"
        do throws(KafkaError) {
            guard case .failed(let error) = try cluster.topic(name) else {
                return CheckLine(line, .failed, "missing; grantor topics create makes it")
            }
            guard error.disposition == .configuration else { return CheckLine(line, .failed, settings.words(error)) }
            let right = topic == .submitted ? "Read" : "Write"
            return CheckLine(
                line, .failed,
                "this user may not see it, or it is missing; give it \(right) on the topic (\(Self.page))")
        } catch {
            return CheckLine(line, .failed, "not seen: \(settings.words(error))")
        }
    }

    private func untold(_ answer: Result<[String: String], KafkaError>?) -> String {
        guard case .failure(let error)? = answer, error.disposition != .configuration else {
            return "its properties may not be read; give this user DescribeConfigs on the topic, to have them checked"
        }
        return "its properties are not told: \(settings.words(error))"
    }
}

extension TopicRequirements.Finding {
    var isGood: Bool { failures.isEmpty && warnings.isEmpty }

    /// Adds a right that is missing, or not known.
    /// - Parameter question: The right, as words that follow "whether".
    fileprivate mutating func add(
        _ right: KafkaRight, _ missing: String, _ question: String, _ settings: KafkaSettings
    ) {
        switch right {
        case .given: break
        case .missing: failures.append(missing)
        case .untold(let error) where error == .unasked: warnings.append("not checked whether \(question)")
        case .untold(let error):
            warnings.append("not checked whether \(question): \(settings.words(error))")
        }
    }
}
