public import Scheduling

/// Which faults a run may meet. Each seed draws its own few: a run with every fault at once reaches no depth in any.
public struct SwarmOptions: Sendable {
    public var submissions = 50
    public var workers = 3
    public var partitions: Int32 = 4
    /// All submissions within a fraction of a second.
    public var burst = false
    public var verdictsChange = false
    /// Workers are killed and start again.
    public var kills = 0
    /// Workers stop, and start again.
    public var stops = 0
    /// Workers stand still for a while, and go on.
    public var freezes = 0
    /// Members of the group come and go without a reason.
    public var rebalances = 0
    /// Lost replies of the ledger, of calls that were carried out or not, in a thousand.
    public var lostReplies = 0
    /// Spans in which the ledger does nothing.
    public var ledgerOutages = 0
    /// The ledger goes back to an older state of its own.
    public var setBacks = 0
    /// Acknowledgements of the broker that get lost, in a thousand.
    public var lostAcknowledgements = 0
    /// Spans in which a topic takes nothing.
    public var topicOutages = 0
    /// The quarantine topic refuses large records.
    public var quarantineRefusesLarge = false
    /// Spans in which one of Apple's endpoints is away.
    public var appleOutages = 0
    /// Spans in which one of Apple's endpoints fails a part of its calls.
    public var appleFailures = 0
    /// Spans in which one of Apple's endpoints takes seconds for each reply.
    public var appleSlowness = 0
    /// Spans in which one of Apple's endpoints asks for fewer calls.
    public var appleLimits = 0
    /// Calls a second that each app may make to the App Store Server API; nil for no limit.
    public var callsPerSecond: Double?
    /// The group's offsets are set back, while it stands still.
    public var offsetsSetBack = 0
    /// An operator abandons a submission that waits.
    public var abandons = 0
    /// Answers that two writers at once make uncertain, in a thousand.
    public var undecided = 0
    /// Shares of latencies that are much longer than usual, in a thousand.
    public var slowness = 5
    /// Moments at which the worker whose turn it is ends amid the turn.
    public var crashes = 0
    /// A record whose check ends its worker, whichever that is.
    public var endsWorkers = false
    /// That record's check ends no worker, and the check of Apple's reply does.
    public var endsWhileReading = false
    /// The topic is made anew, with the same records in another order.
    public var topicsMadeAnew = 0
    /// Partitions lose their end, as after an unclean election of a leader, and their producers send the lost records
    /// again.
    public var topicsCut = 0
    /// The ledger is emptied, and accepted by an operator once a worker has stopped for it.
    public var ledgersEmptied = 0
    /// Bounds that a real fleet rarely meets are small.
    public var smallBounds = false
    /// Workers differ in what their configuration says.
    public var configurationsDiffer = false
    /// Changes of single workers' configurations before the last one.
    public var deployments = 0
    /// Decisions that the database refuses for a while, in a thousand.
    public var refusals = 0
    /// Batches of records that come damaged, in a thousand.
    public var damagedBatches = 0
    /// Offsets without a record, in a thousand.
    public var holes = 0
    /// Claims about which something else than the truth is said for a while, in a thousand.
    public var spells = 0
    /// Apple's endpoints are away, or silent, while anything is produced.
    public var appleIsAway = false
    /// Bytes that may wait in `retries`.
    public var retryBytes: Int64 = 4 << 30
    /// Some evidence was signed ahead of the workers' clocks.
    public var clocksAreSlow = false
    /// Most claims are bare transaction ids.
    public var bareIDs = false
    /// Milliseconds that a doubt lasts.
    public var doubtLimit: Int64 = 6 * 3_600_000
    /// Milliseconds of virtual time in which faults may begin.
    public var faultSpan: Int64 = 120_000

    public init() {}

    /// Nothing but Apple goes wrong.
    var isCalm: Bool {
        kills + stops + freezes + rebalances + lostReplies + ledgerOutages + setBacks + lostAcknowledgements
            + topicOutages + offsetsSetBack + undecided + slowness + crashes + topicsMadeAnew + topicsCut
            + ledgersEmptied == 0
            && refusals + damagedBatches == 0 && !endsWorkers && !smallBounds && retryBytes > 1 << 20
    }

    /// No worker ends or stands still, and neither ledger nor broker fails.
    var isSteady: Bool {
        let faults = [
            kills, stops, freezes, crashes, rebalances, lostReplies, ledgerOutages, lostAcknowledgements, topicOutages,
            undecided, refusals, damagedBatches, offsetsSetBack,
        ]
        return faults.allSatisfy { $0 == 0 } && !endsWorkers && !forgets && !replacesRecords
    }

    /// A reply of Apple's may be lost with the worker, or with the ownership, that it was meant for.
    var losesAnswers: Bool {
        kills + stops + freezes + crashes + rebalances + ledgerOutages + lostReplies > 0 || endsWorkers
            || replacesRecords
    }

    /// Another record may stand at a place of the input topic.
    var replacesRecords: Bool { topicsMadeAnew + topicsCut > 0 }

    /// Whether written rows may disappear.
    var forgets: Bool { setBacks + ledgersEmptied > 0 }

    /// The options of a seed.
    /// - Parameter later: Draws the options that came later.
    public init(drawnFrom random: inout SplitMix64, later: inout SplitMix64) {
        func maybe(_ one: Int, in many: Int, _ random: inout SplitMix64) -> Bool {
            Int.random(in: 0..<many, using: &random) < one
        }
        workers = Int.random(in: 1...3, using: &random)
        partitions = Int32.random(in: 1...4, using: &random)
        burst = maybe(1, in: 2, &random)
        verdictsChange = maybe(1, in: 3, &random)
        if maybe(1, in: 3, &random) { kills = Int.random(in: 1...5, using: &random) }
        if maybe(1, in: 5, &random) { stops = Int.random(in: 1...3, using: &random) }
        if maybe(1, in: 5, &random) { freezes = Int.random(in: 1...3, using: &random) }
        if maybe(1, in: 3, &random) { rebalances = Int.random(in: 1...5, using: &random) }
        if maybe(1, in: 4, &random) { lostReplies = Int.random(in: 5...200, using: &random) }
        if maybe(1, in: 5, &random) { ledgerOutages = Int.random(in: 1...2, using: &random) }
        if maybe(1, in: 10, &random) { setBacks = 1 }
        if maybe(1, in: 4, &random) { lostAcknowledgements = Int.random(in: 5...200, using: &random) }
        if maybe(1, in: 4, &random) { topicOutages = Int.random(in: 1...3, using: &random) }
        quarantineRefusesLarge = maybe(1, in: 5, &random)
        if maybe(1, in: 3, &random) { appleOutages = Int.random(in: 1...3, using: &random) }
        if maybe(1, in: 10, &random) { offsetsSetBack = 1 }
        if maybe(1, in: 8, &random) { abandons = Int.random(in: 1...4, using: &random) }
        if maybe(1, in: 4, &random) { undecided = Int.random(in: 5...100, using: &random) }
        slowness = [0, 0, 5, 100].randomElement(using: &random) ?? 0
        if maybe(1, in: 4, &random) { crashes = Int.random(in: 1...4, using: &random) }
        endsWorkers = maybe(1, in: 12, &random)
        if maybe(1, in: 12, &random) { topicsMadeAnew = 1 }
        if maybe(1, in: 12, &random) { topicsCut = 1 }
        if maybe(1, in: 25, &random) { ledgersEmptied = 1 }
        // A ledger that was set back to before the topic was made anew does not know that it forgot something.
        if forgets { (topicsMadeAnew, topicsCut) = (0, 0) }
        // Another record may stand at the offset of the record that ends workers.
        endsWhileReading = endsWorkers && !replacesRecords && maybe(1, in: 2, &random)
        // A ledger that was set back counts ends of workers again. Some of these counts then quarantine a record that
        // ended nobody.
        if setBacks > 0 { crashes = 0 }
        configurationsDiffer = maybe(1, in: 6, &random)
        if configurationsDiffer { deployments = Int.random(in: 0...4, using: &random) }
        if maybe(1, in: 5, &random) { appleLimits = Int.random(in: 1...3, using: &random) }
        if maybe(1, in: 6, &random) { callsPerSecond = [0.5, 1, 3].randomElement(using: &random) }
        if maybe(1, in: 10, &random) { refusals = Int.random(in: 20...200, using: &random) }
        if maybe(1, in: 10, &random) { damagedBatches = Int.random(in: 20...200, using: &random) }
        if maybe(1, in: 8, &random) { holes = Int.random(in: 20...300, using: &random) }
        smallBounds = maybe(1, in: 4, &random)
        if maybe(1, in: 12, &random) { retryBytes = Int64.random(in: 500...4000, using: &random) }
        // Six hours are forty answers, ten minutes are seven.
        if maybe(3, in: 4, &random) { doubtLimit = 600_000 }
        faultSpan = burst ? Int64.random(in: 200...20_000, using: &random) : 120_000
        if maybe(1, in: 8, &random) { becomeCalm() }
        clocksAreSlow = maybe(1, in: 8, &later)
        bareIDs = maybe(1, in: 16, &later)
        if bareIDs, retryBytes > 1 << 20, maybe(1, in: 2, &later) {
            retryBytes = 400
            appleOutages = max(appleOutages, 1)
        }
        if !isCalm, maybe(1, in: 11, &later) { spells = Int.random(in: 20...400, using: &later) }
        if maybe(1, in: 12, &later) { appleSlowness = Int.random(in: 1...3, using: &later) }
        if maybe(1, in: 12, &later) { appleFailures = Int.random(in: 1...3, using: &later) }
    }

    /// Only Apple fails, and all the time: evidence that needs no call must not wait.
    private mutating func becomeCalm() {
        let drawn = self
        self = SwarmOptions()
        (workers, partitions, burst) = (drawn.workers, drawn.partitions, drawn.burst)
        (verdictsChange, doubtLimit, faultSpan) = (drawn.verdictsChange, drawn.doubtLimit, drawn.faultSpan)
        (callsPerSecond, holes) = (drawn.callsPerSecond, drawn.holes)
        slowness = 0
        appleIsAway = true
    }
}
