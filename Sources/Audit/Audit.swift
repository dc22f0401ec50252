public import Contract
public import Ledger

/// Compares a ledger with its topics. Changes nothing, and may run beside workers.
///
/// The order of its looks lets workers go on meanwhile. Every rule says "if A, then B", where B is made before A and
/// never taken back. So an audit looks for A first, and for B afterwards:
///
/// 1. *How far the input is complete*: the group's offsets and the ledger's checkpoints. A record below has its outcome
/// in the ledger, and its events were acknowledged or are owed. 2. *The rows of the outbox.* An event that was owed is
/// still owed now, or was acknowledged before. 3. *Where the topics end.* So every event of 1 that is not in 2 is below
/// these ends. A record of a topic of events has its row already. 4. *The rows*, in the order of ``AuditedTable``, and
/// *the records* below the ends. 5. *Where each topic begins by now*, once it was read. Records that left it meanwhile
/// may have been missed.
///
/// Rows that come meanwhile, from `retries`, seem to have no event. So the audit looks at each suspicion again: at its
/// row, at the outbox, and then at the topics behind the ends of 3.
public struct Audit: Sendable {
    private let topics: any AuditedTopics
    private let names: [Topic: String]
    private let group: ConsumerGroup
    private let folder: String
    private let openLedger: @Sendable () throws(LedgerError) -> AuditedLedger

    /// - Parameters:
    ///   - names: Of the input topic, and of those of events and quarantined records.
    ///   - group: The workers' group, whose offsets count.
    ///   - folder: For temporary files: some 160 bytes for each purchase that is looked at.
    ///   - openLedger: Called once on each thread that reads the ledger.
    public init(
        topics: any AuditedTopics, names: [Topic: String], group: ConsumerGroup, folder: String,
        openLedger: @escaping @Sendable () throws(LedgerError) -> AuditedLedger
    ) {
        self.topics = topics
        self.names = names
        self.group = group
        self.folder = folder
        self.openLedger = openLedger
    }

    /// Runs once.
    /// - Parameters:
    ///   - since: Rows, events and records of earlier moments are not looked at; nil for all there is.
    ///   - judged: ``AuditReport/judged`` of a former audit that missed nothing. Records that it has looked at may have
    ///     left the input topic since.
    ///   - now: The moment of the start, by this host's clock.
    ///   - progress: Called at least twice a second, on this thread.
    public func run(
        since: Timestamp? = nil, judged: [TopicPartition: Int64] = [:], now: Timestamp,
        progress: (AuditProgress) -> Void = { _ in }
    ) throws(AuditError) -> AuditReport {
        let ledger = try AuditedLedger.opened(openLedger)
        var plan = try AuditPlan(topics, names, ledger, group: group, since: since, judged: judged, now: now)
        var told = AuditProgress(recordsInAll: plan.recordCount)
        let rows = try RowReading(plan, folder: folder, openLedger)
        let read = try plan.read(topics, folder: folder) { count in
            (told.records, told.rows) = (count, rows.count)
            progress(told)
        }
        let stored = try rows.wait {
            told.rows = $0
            progress(told)
        }
        var judge = Judge(tables: plan.tables, blind: plan.blind)
        do {
            var merge = try FactMerge([read.facts, stored.facts])
            while let fact = try merge.next() { judge.take(fact) }
            judge.finish()
        }
        var second = SecondLook(topics, ledger, plan, newest: stored.rows.newest, now: now)
        try second.look(at: judge.suspicions)
        try second.lookAtOutbox(stored.rows.owed)
        return plan.report(read.records, stored.rows, judge, second)
    }
}

/// How far an audit is.
public struct AuditProgress: Hashable, Sendable {
    public internal(set) var records = 0
    public let recordsInAll: Int
    /// Rows of the ledger; nobody knows how many there are.
    public internal(set) var rows = 0
}
