internal import CLibrdkafka
internal import Contract
internal import Logging
internal import Metrics
internal import Scheduling
internal import Threading

/// Drives one librdkafka consumer. It is made on the owner thread, stays on it, and alone calls librdkafka.
///
/// There are two kinds of queues. `control` carries rebalances, errors, statistics and logs, and is emptied at every
/// turn. The partitions' queues are read on demand only, so that other records stay in librdkafka's bounded prefetch.
/// Nothing is ever paused, because a pause discards the prefetched records.
final class ConsumerLoop {
    /// A turn at least this often, should a wake-up be missed: queues signal only when they stop being empty.
    private static let safetyTick = Duration.seconds(1)
    /// Most control events in one turn. The rest wait for the next turn, so that a flood of logs cannot delay commands.
    private static let controlEventsPerTurn = 1000
    /// Time that a question for metrics may take, and hold everything else up: the group's events too.
    private static let questionLimit = Duration.seconds(1)
    /// Time that the owner's question for committed offsets may take. No partition is read before its reply, so slow
    /// brokers get longer. It stays far below ``KafkaConsumerConfiguration/maxPollInterval``.
    private static let committedLimit = Duration.seconds(5)
    /// The pause after a question about waiting records that had no reply, because it has held everything up.
    private static let questionRest = Duration.seconds(30)
    /// Time for freeing the client, whatever the deadline of a stop says.
    private static let freeingReserve = Duration.seconds(1)

    let handle: ClientHandle
    let control: ClientQueue
    let logger: Logger
    let sink: @Sendable (KafkaConsumerEvent) -> Void
    var assignment = PartitionAssignment()
    var commits = OffsetCommits()
    var demand = RecordDemand()
    var readers: PartitionReaders
    var buffer = MessageBuffer()
    /// The partition that the buffer's messages are of.
    var buffered: TopicPartition?
    var refill: PrefetchRefill
    var metrics: ConsumerMetrics
    /// The partitions that were granted and not read when the latest statistics came.
    private var unread: Set<TopicPartition> = []
    private var asksAgainAt = Instant.now
    /// Partitions whose committed offsets the owner has asked for.
    private var uncommitted: [TopicPartition] = []
    /// The questions for committed offsets fail.
    private var silence = Reminder()
    /// The latest error that no retry mends, while partitions are refused.
    private var refusal: KafkaFailure?
    /// The group was asked to let this client in and has not replied yet.
    var isJoining = true
    /// The group has granted something, if only nothing.
    var hadAssignment = false
    /// Whether the group deals out only partitions that move, by its last word.
    var isIncremental = false
    private var log: ClientLog
    private let isCooperative: Bool
    private let isStatic: Bool
    private let commands: Mailbox<ConsumerCommand>
    private var leaving: GroupLeaving?
    private var hasFailed = false
    /// As reported to the owner.
    private var isReachable = true

    init(
        handle: ClientHandle, configuration: KafkaConsumerConfiguration, commands: Mailbox<ConsumerCommand>,
        metrics: PrometheusRegistry, logger: Logger, sink: @escaping @Sendable (KafkaConsumerEvent) -> Void
    ) throws(KafkaError) {
        self.handle = handle
        self.commands = commands
        self.metrics = ConsumerMetrics(metrics)
        self.logger = logger
        self.sink = sink
        log = ClientLog(
            logger: logger, tellsOutages: true, remedies: configuration.remedies,
            hiding: try configuration.properties().secrets)
        isCooperative = configuration.isCooperative
        isStatic = configuration.isStatic
        refill = PrefetchRefill(records: configuration.heldRecords, bytes: configuration.heldBytes)
        control = try ClientQueue.consumerControl(handle)
        readers = PartitionReaders(of: handle, wake: commands.wake)
        control.signal(commands.wake)
    }

    /// Runs until the consumer has left its group or the time for that is over.
    /// - Returns: until when the client may take to be freed.
    func run() -> Instant {
        var waiting: [ConsumerCommand] = []
        while true {
            // First: a command may be for partitions that the group has just taken away.
            serveControl()
            tellReachable()
            commands.takeAll(into: &waiting)
            for command in waiting { carryOut(command) }
            waiting.removeAll(keepingCapacity: true)
            if !uncommitted.isEmpty { fetchCommitted() }
            sendCommits()
            if leaving != nil {
                if hasLeft() { break }
            } else if serveRecords() {
                commands.wake.signal()
            }
            let tick = Instant.now + Self.safetyTick
            commands.wake.wait(until: min(tick, leaving?.nextLook ?? tick))
        }
        releaseQueues()
        return max(leaving?.deadline ?? .now, .now + Self.freeingReserve)
    }

    // MARK: Commands

    private func carryOut(_ command: ConsumerCommand) {
        switch command {
        case .demand(let records, let bytes): demand.set(records: records, bytes: bytes)
        case .assign(let starts):
            guard leaving == nil else { return }
            for start in starts where start.offset == nil { tellReadAgain(start) }
            for call in assignment.start(starts, isIncremental: isIncremental) { carryOut(call) }
        case .unassign(let partitions):
            guard leaving == nil else { return }
            for call in assignment.stop(partitions, isIncremental: isIncremental) { carryOut(call) }
        case .commit(let offsets): commits.add(offsets)
        case .fetchCommitted(let partitions): uncommitted += partitions
        case .stop(let deadline): if leaving == nil { leaving = GroupLeaving(until: deadline, now: .now) }
        }
    }

    private func tellReadAgain(_ start: KafkaStart) {
        guard let expected = start.expected else { return }
        logger.warning(
            "A partition is read again from its oldest record: the ledger or the group has no offset of it",
            metadata: ["partition": "\(start.partition)", "expected": .number(Int(expected))])
    }

    // MARK: Offsets

    /// One question for all partitions that wait for it: where the coordinator is away, each question takes the limit.
    private func fetchCommitted() {
        let partitions = uncommitted
        uncommitted.removeAll(keepingCapacity: true)
        do throws(KafkaError) {
            guard leaving == nil else { return sink(.committedOffsets(nil)) }
            let deadline = Instant.now + Self.committedLimit
            var left: Duration { max(.zero, deadline - .now) }
            var asked = partitions
            var offsets = try handle.committedOffsets(asked, timeout: left)
            if offsets.isEmpty {
                // Whether the group has never read the topic, or only not these partitions.
                for topic in Set(partitions.map(\.topic)) {
                    asked += try handle.partitions(of: topic, timeout: left)
                }
                offsets = try handle.committedOffsets(asked, timeout: left)
            }
            _ = silence.observe(false, at: .now)
            sink(.committedOffsets(Dictionary(asked.map { ($0, offsets[$0]) }) { first, _ in first }))
        } catch {
            if let failure = error.failure { metrics.count(failure) }
            if silence.observe(true, at: .now) != nil {
                logger.error(
                    "Kafka does not say the group's committed offsets; partitions are not read before it does",
                    metadata: ["partitions": .number(partitions.count), "error": "\(error)"])
            }
            sink(.committedOffsets(nil))
        }
    }

    private func sendCommits() {
        commits.isHeldBack = isJoining && isIncremental
        commits.drop(except: assignment.granted)
        guard let offsets = commits.next(at: .now) else { return }
        do throws(KafkaError) {
            let list = try PartitionList(offsets: offsets)
            try KafkaError.check(rd_kafka_commit_queue(handle.pointer, list.pointer, control.pointer, nil, nil))
        } catch {
            commits.ended(isFailed: leaving == nil, at: .now)
            report(error)
        }
    }

    // MARK: Control

    private func serveControl() {
        for _ in 0..<Self.controlEventsPerTurn {
            guard let event = control.nextEvent() else { return }
            serve(event.content)
        }
        commands.wake.signal()
    }

    private func serve(_ content: ClientEvent.Content) {
        switch content {
        case .log(let level, let facility, let text): log.write(level: level, facility: facility, text: text)
        case .error(let code, let text, let isFatal): failed(code, text: text, isFatal: isFatal)
        case .statistics(let json): show(json)
        case .rebalance(let code, let partitions): rebalance(code, partitions)
        case .committed(let code):
            let isFailed = code != RD_KAFKA_RESP_ERR_NO_ERROR
            // A stop does not wait for another try: the next owner reads again from the offset before.
            commits.ended(isFailed: isFailed && leaving == nil, at: .now)
            if isFailed { metrics.count(KafkaFailure(code)) }
        case .deliveries, .other: break
        }
    }

    private func tellReachable() {
        guard log.isAway == isReachable else { return }
        isReachable = !log.isAway
        sink(.reachable(isReachable))
    }

    private func failed(_ code: rd_kafka_resp_err_t, text: String, isFatal: Bool) {
        let error = isFatal ? handle.fatalError ?? KafkaError(code, text: text) : KafkaError(code, text: text)
        report(error)
        hasFailed = hasFailed || isFatal
    }

    /// Counts an error, logs it and reports it to the owner.
    func report(_ error: KafkaError) {
        if let failure = error.failure {
            metrics.count(failure)
            if log.isRefusal(failure) {
                metrics.refusals.increment()
                refusal = failure
            }
            log.write(failure, at: .now)
        }
        sink(.failed(error))
    }

    private func show(_ json: String) {
        sink(.alive)
        guard let statistics = ClientStatistics.decode(json) else {
            logger.warning("Kafka statistics cannot be read")
            return
        }
        let refused = metrics.show(
            statistics, read: assignment.readings.keys, waiting: waiting(isConnected: statistics.isConnected))
        if refused == 0 { refusal = nil }
        if let refusal { log.write(refusal, at: .now) }
        if statistics.isConnected { log.connected(at: .now) } else { log.notConnected(at: .now) }
    }

    /// How many records wait in the partitions that are granted and not read, such as while the ledger is away. A
    /// partition has nil where that is not known now. Nothing is fetched of these partitions, so brokers are asked, if
    /// they are unread for a while.
    private func waiting(isConnected: Bool) -> [TopicPartition: Int64?] {
        let before = unread
        unread = assignment.granted.subtracting(assignment.readings.keys)
        let mayAsk = isConnected && leaving == nil && Instant.now >= asksAgainAt
        let asked = mayAsk ? unread.intersection(before) : []
        var offsets: (ends: [TopicPartition: Int64], committed: [TopicPartition: Int64]) = ([:], [:])
        do throws(KafkaError) {
            if !asked.isEmpty {
                offsets = (
                    try handle.endOffsets(asked, timeout: Self.questionLimit),
                    try handle.committedOffsets(asked, timeout: Self.questionLimit)
                )
            }
        } catch {
            // The gauges stay as they were.
            asksAgainAt = .now + Self.questionRest
            if let failure = error.failure { metrics.count(failure) }
        }
        return Dictionary(
            unread.map { partition in
                guard let end = offsets.ends[partition], let next = offsets.committed[partition] else {
                    return (partition, nil)
                }
                return (partition, max(0, end - next))
            }
        ) { first, _ in first }
    }

    // MARK: Leaving

    /// - Returns: whether the consumer has gone.
    private func hasLeft() -> Bool {
        let isWaiting = isJoining && !isStatic && !hasFailed && handle.clusterID != nil
        let step = leaving?.next(
            hasCommitted: commits.isIdle || hasFailed, isJoining: isWaiting,
            hasLeft: rd_kafka_consumer_closed(handle.pointer) != 0, now: .now)
        switch step {
        case .wait: return false
        case .leave:
            leave(isWaiting: isWaiting)
            return false
        case .end, nil: return true
        }
    }

    private func leave(isWaiting: Bool) {
        // Else the next turn may be the last, without an event that would begin it.
        defer { commands.wake.signal() }
        if isWaiting {
            logger.info(
                "The Kafka consumer stops before its group has let it in; the group may wait for it for a session")
        }
        // librdkafka before 2.3.0 can crash when a cooperative consumer leaves that never had an assignment.
        guard !isCooperative || hadAssignment || rd_kafka_version() >= 0x0203_0000 else {
            leaving?.giveUp()
            return
        }
        do throws(KafkaError) {
            try KafkaError.check(taking: rd_kafka_consumer_close_queue(handle.pointer, control.pointer))
        } catch {
            logger.warning("The Kafka consumer cannot leave its group", metadata: ["error": "\(error)"])
            leaving?.giveUp()
        }
    }

    /// Frees the content of the queues, for which librdkafka's own destruction would wait for ever.
    private func releaseQueues() {
        control.stopSignalling()
        readers.keep(only: [])
        _ = buffer.removeAll()
        while let event = control.nextEvent() { serve(event.content) }
    }
}

extension ConsumerLoop {
    /// Answers the group at once. The owner reacts later.
    func rebalance(_ code: rd_kafka_resp_err_t, _ partitions: [TopicPartition]) {
        switch code {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: grant(partitions)
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS: revoke(partitions)
        default:
            // Documented reaction to anything else: synchronise by giving up everything.
            report(KafkaError(code))
            isJoining = true
            let all = assignment.granted
            carryOut(assignment.revoke(all.sorted(), isIncremental: false))
            sink(.lost(all.sorted()))
        }
    }

    private func grant(_ partitions: [TopicPartition]) {
        // Asked only now. The call waits for librdkafka's main thread, for ever once the group was left. The protocol
        // cannot change between two grants.
        isIncremental = rd_kafka_rebalance_protocol(handle.pointer).map { String(cString: $0) } == "COOPERATIVE"
        hadAssignment = true
        isJoining = false
        carryOut(assignment.grant(partitions, isIncremental: isIncremental))
        metrics.grants.increment()
        logger.info("Kafka partitions assigned", metadata: ["partitions": .number(partitions.count)])
        // A member of a group has heard of its cluster.
        sink(.cluster(handle.clusterID))
        sink(.assigned(partitions.sorted()))
    }

    private func revoke(_ partitions: [TopicPartition]) {
        // Asked first: giving partitions back resets the answer.
        let isLost = rd_kafka_assignment_lost(handle.pointer) != 0
        isJoining = true
        carryOut(assignment.revoke(partitions, isIncremental: isIncremental))
        (isLost ? metrics.losses : metrics.revocations).increment()
        let metadata: Logger.Metadata = ["partitions": .number(partitions.count)]
        if isLost {
            logger.warning("Kafka partitions lost: the group has ended this member's session", metadata: metadata)
        } else {
            logger.info("Kafka partitions revoked", metadata: metadata)
        }
        if isLost || !partitions.isEmpty { sink(isLost ? .lost(partitions.sorted()) : .revoked(partitions.sorted())) }
    }

    /// Makes one call, and drops the fetched records of partitions that it takes away or begins anew.
    func carryOut(_ call: PartitionAssignment.Call) {
        handle.waitForAssignment()
        do throws(KafkaError) {
            switch call {
            case .replace(let offsets):
                try readers.add(offsets.keys)
                let list = try PartitionList(offsets: offsets)
                try KafkaError.check(rd_kafka_assign(handle.pointer, list.pointer))
                drop { _ in true }
            case .unassign:
                try KafkaError.check(rd_kafka_assign(handle.pointer, nil))
                drop { _ in true }
            case .add(let offsets):
                try readers.add(offsets.keys)
                let list = try PartitionList(offsets: offsets)
                try KafkaError.check(taking: rd_kafka_incremental_assign(handle.pointer, list.pointer))
            case .remove(let partitions):
                let list = try PartitionList(partitions)
                try KafkaError.check(taking: rd_kafka_incremental_unassign(handle.pointer, list.pointer))
                drop { partitions.contains($0) }
            }
        } catch {
            report(error)
        }
        readers.keep(only: assignment.readings.keys)
    }

    private func drop(where isGone: (TopicPartition) -> Bool) {
        guard let buffered, isGone(buffered) else { return }
        metrics.dropped.increment(by: buffer.removeAll())
    }
}
