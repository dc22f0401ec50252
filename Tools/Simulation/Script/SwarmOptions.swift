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
    /// Replies of the ledger that get lost, whether or not it did what was asked, in a thousand.
    public var lostReplies = 0
    /// Spans in which the ledger does nothing.
    public var ledgerOutages = 0
    /// The ledger goes back to an older state of its own.
    public var setBacks = 0
    /// Acknowledgements of the broker that get lost, in a thousand.
    public var lostAcknowledgements = 0
    /// Spans in which a topic takes nothing.
    public var topicOutages = 0
    /// The quarantine topic refuses what is large.
    public var quarantineRefusesLarge = false
    /// Spans in which one of Apple's endpoints is away.
    public var appleOutages = 0
    /// The group's offsets are set back, while it stands still.
    public var offsetsSetBack = 0
    /// An operator abandons a submission that waits.
    public var abandons = 0
    /// Answers that two writers at once make uncertain, in a thousand.
    public var undecided = 0
    /// Shares of latencies that are much longer than usual, in a thousand.
    public var slowness = 5
    /// Milliseconds of virtual time in which faults may begin.
    public var faultSpan: Int64 = 120_000

    public init() {}

    /// Nothing but Apple goes wrong.
    var isCalm: Bool {
        kills + stops + freezes + rebalances + lostReplies + ledgerOutages + setBacks + lostAcknowledgements
            + topicOutages + offsetsSetBack + undecided + slowness == 0
    }

    /// The options of a seed.
    public init(drawnFrom random: inout SplitMix64) {
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
        faultSpan = burst ? Int64.random(in: 200...20_000, using: &random) : 120_000
    }
}
