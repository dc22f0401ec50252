internal import CLibrdkafka
import Logging

/// Drives one librdkafka consumer. It is made on the owner thread, stays on it, and is the only one to call librdkafka.
///
/// Two queues: `control` carries rebalances, errors, statistics and logs and is emptied at every turn; `records` carries
/// what the assigned partitions fetched and is read on demand only, so that what nobody asks for stays in librdkafka's
/// bounded prefetch.
final class ConsumerLoop {
    /// A turn at least this often, should a wake-up be missed: queues signal only when they stop being empty.
    private static let safetyTick = Duration.seconds(1)
    /// Control events in one turn; the rest wait for the next, so that a flood of logs cannot keep commands waiting.
    private static let controlEventsPerTurn = 1000
    /// How long the commit before giving partitions back may take.
    private static let revocationCommitDeadline = Duration.seconds(5)

    let handle: KafkaHandle
    let inbox: ConsumerInbox
    let observer: ClientObserver
    let logger: Logger
    let control: KafkaQueue
    let records: KafkaQueue
    let isCooperative: Bool
    private let isStatic: Bool
    var assignment: ConsumerAssignment
    var pauses = PauseState()
    var buffer = RecordBuffer()
    private var refill: PrefetchRefill
    var hadAssignment = false
    /// Whether the group has answered the latest request to join.
    var isMember = false
    /// When the group asked for partitions back that are still held.
    var revokedAt: ContinuousClock.Instant?
    /// Callers of `commit`, by the token their answer will carry. Tokens of revocations are odd, these even.
    var commits: [UInt: Reply<Void>] = [:]
    private var lastCommit: UInt = 0
    private var topicNames: [OpaquePointer: String] = [:]
    private let wake: EventDescriptor
    private let pulse: ConsumerPulse
    private(set) var closing: Closing?

    struct Closing {
        var departure: Departure
        var replies: [Reply<Void>]
        /// Whether the group was told.
        var leavesGroup = false
    }

    init(
        handle: KafkaHandle, inbox: ConsumerInbox, wake: EventDescriptor, pulse: ConsumerPulse,
        configuration: KafkaConsumerConfiguration, logger: Logger
    ) throws(KafkaError) {
        self.handle = handle
        self.inbox = inbox
        self.wake = wake
        self.pulse = pulse
        self.logger = logger
        observer = ClientObserver(client: "consumer", configuration: configuration.client, logger: logger)
        isCooperative = configuration.isCooperative
        refill = PrefetchRefill(records: configuration.heldRecords, bytes: configuration.heldBytes)
        isStatic = configuration.isStatic
        assignment = ConsumerAssignment(
            revocationDeadline: configuration.revocationDeadline, commitDeadline: Self.revocationCommitDeadline)
        control = try KafkaQueue.consumerControl(handle)
        records = try KafkaQueue.make(handle)
        control.signal(wake)
        records.signal(wake)
    }

    /// Runs until the consumer is closed or its deadline for that is over.
    func run() {
        while true {
            pulse.turn()
            for command in inbox.takeCommands() { carryOut(command) }
            serveControl()
            perform(assignment.reached(.now))
            if closing != nil {
                if depart() { return }
            } else {
                serveDemand()
            }
            wake.wait(timeout: timeout)
        }
    }

    private var timeout: Duration {
        let deadlines = [assignment.deadline, closing?.departure.nextLook].compactMap { $0 }
        return min(Self.safetyTick, deadlines.min().map { max($0 - .now, .zero) } ?? Self.safetyTick)
    }

    // MARK: Commands

    private func carryOut(_ command: ConsumerCommand) {
        switch command {
        case .store(let offsets, let epochs, let reply): reply(.success(store(offsets, epochs: epochs)))
        case .commit(let reply): commit(reply)
        case .pause(let partitions, let reply):
            let assigned = assignment.partitions
            reply(
                apply(
                    partitions.map { pauses.pause($0, assigned: assigned) } ?? pauses.pauseAll(assigned: assigned)))
        case .resume(let partitions, let reply):
            let assigned = assignment.partitions
            reply(
                apply(
                    partitions.map { pauses.resume($0, assigned: assigned) } ?? pauses.resumeAll(assigned: assigned)))
        case .completeRevocation(let id, let offsets):
            if assignment.isWaiting(for: id) { _ = store(offsets) }
            perform(assignment.completed(id, now: .now))
        case .close(let deadline, let reply): close(deadline: deadline, reply: reply)
        }
    }

    /// - Returns: the partitions that are no longer this member's, or this member's anew.
    private func store(
        _ offsets: [KafkaPartition: Int64], epochs: [KafkaPartition: UInt64] = [:]
    ) -> [KafkaPartition] {
        let current = offsets.filter { partition, _ in
            epochs[partition].map { assignment.mayStore(partition, epoch: $0) } ?? true
        }
        let late = offsets.keys.filter { current[$0] == nil }
        guard !current.isEmpty, let list = PartitionList(offsets: current) else { return late.sorted() }
        rd_kafka_offsets_store(handle.pointer, list.pointer)
        let refused = list.refused
        var lower: [KafkaPartition: Int64] = [:]
        for (partition, offset) in current where refused[partition] == nil {
            if assignment.stored(offset, for: partition) { lower[partition] = offset }
        }
        commitLower(lower)
        return (late + refused.keys).sorted()
    }

    /// The periodic commit only goes forward, so what went back is committed by name.
    private func commitLower(_ offsets: [KafkaPartition: Int64]) {
        guard !offsets.isEmpty, let list = PartitionList(offsets: offsets) else { return }
        let code = rd_kafka_commit_queue(handle.pointer, list.pointer, control.pointer, nil, nil)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { observer.count(error: KafkaFailure(code)) }
    }

    private func commit(_ reply: @escaping Reply<Void>) {
        lastCommit += 2
        let code = rd_kafka_commit_queue(
            handle.pointer, nil, control.pointer, nil, UnsafeMutableRawPointer(bitPattern: lastCommit))
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            return reply(code == RD_KAFKA_RESP_ERR__NO_OFFSET ? .success(()) : .failure(KafkaError(code)))
        }
        commits[lastCommit] = reply
    }

    func apply(_ changes: PauseState.Changes) -> Result<Void, KafkaError> {
        if !changes.pause.isEmpty, let list = PartitionList(changes.pause) {
            rd_kafka_pause_partitions(handle.pointer, list.pointer)
            if let error = list.refused.values.first { return .failure(error) }
        }
        if !changes.resume.isEmpty, let list = PartitionList(changes.resume) {
            rd_kafka_resume_partitions(handle.pointer, list.pointer)
            if let error = list.refused.values.first { return .failure(error) }
        }
        return .success(())
    }

    private func close(deadline: ContinuousClock.Instant, reply: Reply<Void>?) {
        guard closing == nil else {
            if let reply { closing?.replies.append(reply) }
            return
        }
        inbox.conclude(.success(nil))
        perform(assignment.close(now: .now))
        let departure = Departure(isJoining: !isMember && !isStatic && hasReachedBroker, deadline: deadline, now: .now)
        closing = Closing(departure: departure, replies: reply.map { [$0] } ?? [])
        if departure.isJoining { logger.debug("Kafka consumer waits to be let into its group, to leave it") }
    }

    /// - Returns: whether the consumer has gone.
    private func depart() -> Bool {
        let step = closing?.departure.next(
            isMember: isMember, hasLeft: rd_kafka_consumer_closed(handle.pointer) != 0, now: .now)
        switch step {
        case .wait: return false
        case .leave:
            leave()
            return false
        case .end, nil: return true
        }
    }

    private func leave() {
        // The turn that ends may be the next one, without any event that would begin it.
        defer { wake.signal() }
        if !isMember, !isStatic, hasReachedBroker {
            logger.warning(
                "Kafka consumer goes without having been let into its group; if it asked, the group misses it when its session ends"
            )
        }
        // librdkafka before 2.3.0 can crash when a cooperative consumer leaves that never had an assignment.
        guard !isCooperative || hadAssignment || rd_kafka_version() >= 0x0203_0000 else {
            closing?.departure.giveUp()
            return
        }
        if let error = KafkaError.taking(rd_kafka_consumer_close_queue(handle.pointer, control.pointer)) {
            logger.warning("Kafka consumer cannot leave its group", metadata: ["error": "\(error)"])
            closing?.departure.giveUp()
            return
        }
        closing?.leavesGroup = true
    }

    /// Whether the cluster was ever heard of; else no group can have been asked for anything. Does not wait.
    private var hasReachedBroker: Bool {
        guard let id = rd_kafka_clusterid(handle.pointer, 0) else { return false }
        rd_kafka_mem_free(handle.pointer, id)
        return true
    }

    // MARK: Control

    private func serveControl() {
        for _ in 0..<Self.controlEventsPerTurn {
            guard let event = control.nextEvent() else { return }
            handle(event.content)
        }
        wake.signal()
    }

    private func handle(_ content: ClientEvent.Content) {
        observer.observe(content)
        switch content {
        case .statistics: pulse.report()
        case .rebalance(let code, let partitions): rebalance(code, partitions)
        case .committed(let code, let token): committed(code, token: token)
        case .error(_, _, let isFatal) where isFatal:
            inbox.conclude(.failure(handle.fatalError ?? .closed))
        default: break
        }
    }

    // MARK: Records

    private func serveDemand() {
        guard let demand = inbox.demand else { return }
        if let announcement = assignment.nextAnnouncement() {
            if !inbox.answer(demand.id, .success(event(announcement))) { assignment.putBack(announcement) }
            return
        }
        // A demand for no records waits for changes of the assignment only.
        guard demand.maxRecords > 0 else { return }
        while buffer.wantsMore(maxRecords: demand.maxRecords, maxBytes: demand.maxBytes) {
            guard let message = records.nextRecord() else { break }
            refill.took(bytes: message.pointee.len)
            if let record = take(message) { buffer.append(record) }
        }
        if refill.isDue() { remindBrokers() }
        guard !buffer.isEmpty else { return }
        let batch = buffer.take(maxRecords: demand.maxRecords, maxBytes: demand.maxBytes)
        if !inbox.answer(demand.id, .success(.records(batch))) { buffer.putBack(batch) }
    }

    private func event(_ announcement: ConsumerAssignment.Announcement) -> KafkaConsumerEvent {
        switch announcement {
        case .assigned(let partitions, let epoch): .assigned(partitions, epoch: epoch)
        case .revoking(let id, let partitions, let lost):
            .revoking(KafkaRevocation(partitions: partitions, lost: lost, id: id, inbox: inbox))
        }
    }

    /// Copies a message and frees it. `nil` for errors, and for records of partitions that are not ours any more.
    private func take(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> KafkaRecord? {
        defer { rd_kafka_message_destroy(message) }
        guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
            let text = rd_kafka_message_errstr(message).map(String.init(cString:))
            observer.count(error: KafkaFailure(message.pointee.err, text: text))
            return nil
        }
        let partition = KafkaPartition(topic: topicName(message.pointee.rkt), index: message.pointee.partition)
        guard let epoch = assignment.epoch(of: partition) else {
            observer.count("dropped_records")
            return nil
        }
        return KafkaRecord(message, partition: partition, epoch: epoch)
    }

    /// Makes librdkafka look for room now. Nothing in its interface says so; a question for the leaders of all partitions,
    /// whose answers nobody waits for, wakes their threads, and each then looks at what it may fetch.
    private func remindBrokers() {
        guard !KafkaConsumerConfiguration.hasQueueBackoff else { return }
        // One by one: a partition without a leader would keep the others from being asked.
        for partition in assignment.partitions {
            guard let list = PartitionList(offsets: [partition: Int64(RD_KAFKA_OFFSET_END)]) else { return }
            _ = rd_kafka_offsets_for_times(handle.pointer, list.pointer, 0)
        }
    }

    /// The topic's name, made into a Swift string once per topic and assignment instead of once per record.
    private func topicName(_ topic: OpaquePointer?) -> String {
        guard let topic else { return "" }
        if let name = topicNames[topic] { return name }
        let name = rd_kafka_topic_name(topic).map(String.init(cString:)) ?? ""
        topicNames[topic] = name
        return name
    }

    func forgetTopicNames() { topicNames = [:] }

    // MARK: Teardown

    /// Frees what is still in the queues; librdkafka's own destruction would wait for it for ever.
    func releaseQueues() {
        control.stopSignalling()
        records.stopSignalling()
        while let message = records.nextRecord() { rd_kafka_message_destroy(message) }
        while let event = control.nextEvent() { handle(event.content) }
        for reply in commits.values { reply(.failure(.closed)) }
        commits = [:]
    }
}
