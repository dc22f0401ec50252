internal import CLibrdkafka
internal import Contract
internal import Scheduling

/// Whether a user has a right, if brokers' replies show it.
public enum KafkaRight: Sendable, Hashable {
    case given
    case missing
    /// No reply shows it, and why.
    case untold(KafkaError)
}

/// The rights that a worker needs, found out by requests that change nothing.
public struct KafkaRights: Sendable, Hashable {
    /// To read the group: join it and commit.
    public var group: KafkaRight
    /// To read the input topic.
    public var input: KafkaRight
    /// To write into each of the other topics, by its name.
    public var outputs: [String: KafkaRight]
    /// To write idempotently; brokers from 2.8 give it with the right to write into any topic.
    public var idempotence: KafkaRight

    public init(
        group: KafkaRight, input: KafkaRight, outputs: [String: KafkaRight], idempotence: KafkaRight
    ) {
        (self.group, self.input, self.outputs, self.idempotence) = (group, input, outputs, idempotence)
    }
}

extension KafkaAdmin {
    /// Finds out the user's rights, request by request. Brokers check the rights of a request before its content. Each
    /// of these asks for what is always refused or has no effect:
    ///
    /// - A commit for a partition that does not exist needs the right to read the group and the topic. It is refused as
    ///   unknown, and makes no group.
    /// - A record under a number of acknowledgements that the protocol does not know needs the right to write. It is
    ///   refused as such, and written nowhere.
    /// - A producer id, which an idempotent producer asks for when it starts, is used for nothing.
    ///
    /// Each waits for the time of one question at most.
    /// - Parameters:
    ///   - input: The topic to be read.
    ///   - outputs: Topics to be written. All must exist: the result leaves out those that do not.
    public func rights(toRead input: String, as group: String, toWrite outputs: [String]) -> KafkaRights {
        let reading = rightsToRead(input, as: group)
        let writing = rightsToWrite(outputs)
        // A broker refuses it also to a user without any right to write. The user's topics show that.
        let isUseful = writing.isEmpty || writing.values.contains(.given)
        return KafkaRights(
            group: reading.group, input: reading.input, outputs: writing,
            idempotence: isUseful ? rightToWriteIdempotently() : .untold(.unasked))
    }

    /// Whether a topic is there, asked by its name, which makes none: of one that the user may not see it is `failed`.
    /// - Throws: `transient` when no broker replies in time, configuration errors.
    public func topic(_ name: String) throws(KafkaError) -> KafkaClusterDescription.Topic {
        let forced = ["group.id": "grantor-check", "allow.auto.create.topics": "false"]
        return try withClient(RD_KAFKA_CONSUMER, forced: forced) { handle throws(KafkaError) in
            try handle.metadata(of: name, timeout: timeout).topics[name] ?? .missing
        }
    }

    /// Connects to each broker at its advertised address, and asks a question that needs no right.
    /// - Throws: `transient` when a broker does not reply in time, with its address if the client's log names it;
    ///   configuration errors.
    public func reachBrokers() throws(KafkaError) {
        try withClient { handle throws(KafkaError) in
            // A client knows the brokers once one of them has listed them.
            _ = try untilSettled { () throws(KafkaError) in try handle.metadata(of: nil, timeout: timeout) }
            var list: UnsafePointer<rd_kafka_group_list>?
            let code = rd_kafka_list_groups(handle.pointer, nil, &list, timeout.wholeMilliseconds)
            if let list { rd_kafka_group_list_destroy(list) }
            // The groups do not matter, and without a right they are not listed. Any reply is enough. A missing reply
            // has many errors, and the log has the reason.
            guard code.rawValue < 0, KafkaError(code).disposition == .retry else { return }
            throw KafkaError(RD_KAFKA_RESP_ERR__TRANSPORT)
        }
    }

    // MARK: Reading

    private func rightsToRead(_ topic: String, as group: String) -> (group: KafkaRight, input: KafkaRight) {
        do throws(KafkaError) {
            let forced = ["group.id": group, "enable.auto.commit": "false", "enable.auto.offset.store": "false"]
            let code = try withClient(
                RD_KAFKA_CONSUMER, forced: forced, events: RD_KAFKA_EVENT_OFFSET_COMMIT
            ) { handle throws(KafkaError) in
                try untilSettled { () throws(KafkaError) in
                    let code = try commitNowhere(topic, handle)
                    // The expected reply is that the partition is unknown.
                    let isAnswer = code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
                    guard isAnswer || !KafkaError(code).isForTheMoment else { throw KafkaError(code) }
                    return code
                }
            }
            switch code {
            // The partition is unknown, and nothing else was wrong.
            case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: return (.given, .given)
            case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED: return (.given, .missing)
            case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED: return (.missing, .untold(.unasked))
            default: return (.untold(KafkaError(code)), .untold(KafkaError(code)))
            }
        } catch {
            return (.untold(error), .untold(error))
        }
    }

    /// Commits an offset of a partition that does not exist, without membership in the group.
    /// - Returns: The broker's reply.
    private func commitNowhere(_ topic: String, _ handle: ClientHandle) throws(KafkaError) -> rd_kafka_resp_err_t {
        let queue = try ClientQueue.consumerControl(handle)
        let list = try PartitionList(offsets: [TopicPartition(topic: topic, partition: .max): 0])
        try KafkaError.check(rd_kafka_commit_queue(handle.pointer, list.pointer, queue.pointer, nil, nil))
        return try wait(for: queue) { event in
            switch event.content {
            case .committed(let code): return code
            // Without the right to describe the group no coordinator is named, and librdkafka would wait for one.
            case .error(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, _, _):
                return RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED
            default: return nil
            }
        }
    }

    // MARK: Writing

    /// The number of acknowledgements that no broker knows.
    private static let unknownAcknowledgements = "2"

    private func rightsToWrite(_ topics: [String]) -> [String: KafkaRight] {
        // librdkafka knows some properties by two names, and an operator may use either.
        let forced = [
            "enable.idempotence": "false", "acks": Self.unknownAcknowledgements,
            "request.required.acks": Self.unknownAcknowledgements, "linger.ms": "0", "queue.buffering.max.ms": "0",
            "message.timeout.ms": "\(timeout.wholeMilliseconds)",
            "delivery.timeout.ms": "\(timeout.wholeMilliseconds)", "topic.metadata.propagation.max.ms": "2000",
        ]
        var rights: [String: KafkaRight] = [:]
        do throws(KafkaError) {
            try withClient(forced: forced, events: RD_KAFKA_EVENT_DR) { handle throws(KafkaError) in
                for topic in topics {
                    let code = try refusedRecord(topic, handle)
                    rights[topic] = Self.rightToWrite(code)
                    // A server that keeps such records is no broker of Kafka's, and gets no further record.
                    if code == RD_KAFKA_RESP_ERR_NO_ERROR { return }
                }
            }
        } catch {
            for topic in topics where rights[topic] == nil { rights[topic] = .untold(error) }
        }
        for topic in topics where rights[topic] == nil { rights[topic] = .untold(.unasked) }
        return rights
    }

    private static func rightToWrite(_ code: rd_kafka_resp_err_t) -> KafkaRight {
        switch code {
        case RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS, RD_KAFKA_RESP_ERR_NO_ERROR: .given
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED: .missing
        default: .untold(KafkaError(code))
        }
    }

    /// Sends an empty record that is refused whatever it holds.
    /// - Returns: The broker's reply.
    private func refusedRecord(_ topic: String, _ handle: ClientHandle) throws(KafkaError) -> rd_kafka_resp_err_t {
        let queue = try ClientQueue.main(handle)
        guard let one = rd_kafka_topic_new(handle.pointer, topic, nil) else { throw KafkaError(rd_kafka_last_error()) }
        defer { rd_kafka_topic_destroy(one) }
        guard rd_kafka_produce(one, 0, 0, nil, 0, nil, 0, nil) == 0 else { throw KafkaError(rd_kafka_last_error()) }
        return try wait(for: queue) { event in
            guard case .deliveries = event.content else { return nil }
            var code: rd_kafka_resp_err_t?
            event.forEachDelivery { code = $0.pointee.err }
            return code
        }
    }

    /// Lets an idempotent producer start, and follows it by its statistics.
    private func rightToWriteIdempotently() -> KafkaRight {
        let forced = ["enable.idempotence": "true", "acks": "all", "request.required.acks": "all"]
        do throws(KafkaError) {
            return try withClient(forced: forced.merging(["statistics.interval.ms": "100"]) { $1 }) {
                handle throws(KafkaError) in
                let queue = try ClientQueue.main(handle)
                return try wait(for: queue) { event in
                    switch event.content {
                    case .statistics(let text) where text.contains("\"idemp_state\": \"Assigned\""): .given
                    case .error where handle.fatalError?.failure?.code == Self.clusterRefusal: .missing
                    default: nil
                    }
                }
            }
        } catch {
            return .untold(error)
        }
    }

    private static let clusterRefusal = RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED.rawValue

    /// Waits for the event with a question's reply.
    /// - Throws: `transient` (`_TIMED_OUT`) if none does in the time for one.
    private func wait<Answer>(
        for queue: ClientQueue, _ answer: (borrowing ClientEvent) -> Answer?
    ) throws(KafkaError) -> Answer {
        let deadline = Instant.now + timeout
        while Instant.now < deadline {
            guard let event = queue.nextEvent(milliseconds: 100) else { continue }
            if let answer = answer(event) { return answer }
        }
        throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT)
    }
}

extension KafkaError {
    /// A question that became pointless by another question's reply.
    public static var unasked: KafkaError {
        .transient(KafkaFailure(code: 0, name: "NOT_ASKED", text: "another right comes first"))
    }
}
