import Contract
import Ledger
import LedgerModel
import Processing
import Scheduling

/// Kafka, Apple, the ledger and a fleet of workers in virtual time. One seed is one run, down to the last byte.
///
/// Everything that happens is an event with its moment. The fleet's cores are real, and so are the planner and the
/// rendering in the ledger's model. Checkers, Apple, brokers and operators follow the script. The world tells the judge
/// everything that can be seen from outside.
final class World {
    enum Event {
        case produce(Int)
        case input(Life, Input)
        case deliver(Life)
        case write(Life, WriteBatch, epoch: Int)
        case request(Life, LedgerRequest, epoch: Int)
        case attempt(Life, AttemptTask)
        case publish(Life, PublishTask)
        case call(Life, CallTask)
        case commit(Life, [CommittedOffset], [Int])
        case crash(Life)
        case leave(Life)
        case fault(Fault)
        case watch
    }

    let options: SwarmOptions
    let script: Script
    var random: SplitMix64
    var now = Instant(nanoseconds: 0)
    var events = Agenda<Event>()
    var kafka: SimulatedKafka
    var apple: SimulatedApple
    let ledger: LedgerModel
    let connection: ModelConnection
    var snapshots: [ModelTables] = []
    /// How often the ledger was lost: a call that was made before does nothing.
    var epoch = 0
    var lives: [Life?]
    /// When the core at each place has its next turn.
    private var turns: [Instant]
    /// Of the present turn.
    private var actions = Actions()
    var started = 0
    var witness: Witness
    /// The ledger is empty, although the group has read: workers stop until an operator has looked.
    var isEmptied = false
    var isAccepted = false
    var topicOutages: [(topic: Topic, begin: Int64, end: Int64)] = []
    var ledgerOutages: [(begin: Int64, end: Int64)] = []
    var settings = CoreSettings()
    /// Records that are still to be produced, or to be produced again.
    var unproduced = 0
    private var crashesLeft = 0
    /// Claims whose decisions the database refuses while anything goes wrong.
    private let refused: Set<Int>
    /// The claim whose check as a row of `retries` ends its worker, until a person has mended it: the first with a row.
    var endingRow: ClaimDigest?
    var isRowMended = false
    /// Most microseconds from an input to its turn: a busy core takes many of them in one.
    private let pace: Int64
    /// No faults any more: all work has to come to its end.
    var isHealthy = false
    var trace: Trace?
    /// Of all cores.
    var transitions = TransitionCounts(isCounting: true)

    static let group = ConsumerGroup(name: "grantor", cluster: "simulated") { $0.defaultName }
    /// Virtual time counts from here for wall clocks.
    static let wallStart: Int64 = 1_800_000_000_000
    /// Most milliseconds that a worker's clock is off.
    static let clockError: Int64 = 200
    /// Milliseconds after which the first members of the group read.
    static let firstReading: Int64 = 1000
    /// A run that has not come to its end by then never will.
    static let limit: Int64 = 72 * 3_600_000
    /// A core that wants no turn for so long waits for nothing but its next sample.
    static let idle: Duration = .seconds(5)
    private static let never = Instant(nanoseconds: .max)
    /// Most events of one run. Honest runs were seen to need a tenth of it at most.
    static let maxEvents = 2_000_000

    init(seed: UInt64, options given: SwarmOptions? = nil, trace: Trace? = nil) {
        var random = SplitMix64(seed: seed)
        // A generator of its own, so that options of later versions leave the runs of earlier seeds as they are.
        var later = SplitMix64(seed: ~seed)
        options = given ?? SwarmOptions(drawnFrom: &random, later: &later)
        script = Script(options, &random)
        kafka = SimulatedKafka(partitions: options.partitions)
        apple = SimulatedApple(claims: script.claims)
        for number in script.claims.indices where Int.random(in: 0..<1000, using: &later) < options.spells {
            let longest = Int64(1000) << Int64.random(in: 0...11, using: &later)
            apple.spells[number] = Spell(until: Int64.random(in: 0...longest, using: &later), &later)
        }
        ledger = LedgerModel(id: "ledger-1", now: Timestamp(milliseconds: Self.wallStart))
        connection = ledger.connection()
        lives = Array(repeating: nil, count: options.workers)
        turns = Array(repeating: Self.never, count: options.workers)
        witness = Witness(script: script)
        settings.inFlight = (options.isCalm ? [32, 64, 8192] : [16, 64, 8192]).randomElement(using: &random) ?? 64
        settings.doubtLimit = .milliseconds(options.doubtLimit)
        settings.retryBytes = options.retryBytes
        if options.smallBounds { settings.drawBounds(&random) }
        crashesLeft = options.crashes
        let share = options.refusals
        refused = Set(script.claims.indices.filter { _ in Int.random(in: 0..<1000, using: &random) < share })
        pace = (options.isCalm ? [1000] : [300, 1000, 1000, 10_000]).randomElement(using: &random) ?? 1000
        self.random = random
        self.trace = trace
        guard options.refusals > 0 else { return }
        ledger.refuses = { [unowned self] decision in
            guard !self.isHealthy, let number = ScriptedClaim.number(of: decision.claimant),
                self.refused.contains(number)
            else { return false }
            if case .wait = decision.content { return false }
            return true
        }
    }

    var milliseconds: Int64 { now.nanoseconds / 1_000_000 }

    // MARK: The run

    /// Runs to the end.
    ///
    /// - Returns: The promises that were broken; none for a run as it must be.
    func run() -> [Violation] {
        unproduced = script.records.count
        for record in script.records { at(record.producedAt, .produce(record.number)) }
        for place in lives.indices { at(random(0...50), .fault(.start(place))) }
        drawFaults()
        trace?.begin(self)
        at(options.faultSpan, .fault(.heal))
        at(max(options.faultSpan, script.lastProducedAt) + 1000, .watch)
        var count = 0
        while let due = nextMoment {
            now = max(now, due)
            count += 1
            guard count < Self.maxEvents, milliseconds < Self.limit else {
                witness.violations.append(
                    Violation(.endless, "after \(count) events and \(milliseconds) ms: \(unfinished())"))
                return witness.violations
            }
            if let event = events.popDue(at: now) { handle(event) } else { turnDue() }
            if isDone || !witness.violations.isEmpty { break }
        }
        for case let life? in lives { transitions.add(life.core.transitions) }
        for transition in transitions.illegal { witness.violations.append(Violation(.declared, "\(transition)")) }
        if witness.violations.isEmpty {
            Judge(
                witness: witness, tables: ledger.tables, apple: apple, options: options,
                isTold: { self.witness.isTold($0, self) }
            ).judge()
                .forEach { witness.violations.append($0) }
        }
        return witness.violations
    }

    private var isDone = false

    private func handle(_ event: Event) {
        switch event {
        case .produce(let number): produce(number)
        case .input(let life, let input): receive(input, life)
        case .deliver(let life): deliver(life)
        case .write(let life, let batch, let epoch): write(batch, of: life, epoch: epoch)
        case .request(let life, let request, let epoch): call(request, of: life, epoch: epoch)
        case .attempt(let life, let task): ask(task, life)
        case .publish(let life, let task): publish(task, life)
        case .call(let life, let task): fulfil(task, life)
        case .commit(let life, let offsets, let terms): commit(offsets, terms, life)
        case .crash(let life): if life.isAlive { crash(life) }
        case .leave(let life): leave(life)
        case .fault(let fault): apply(fault)
        case .watch: watch()
        }
    }

    /// Looks whether all is done. Naps look, too: this finds a run that never sleeps.
    private func watch() {
        if isHealthy { retryEndingRows() }
        isDone = isComplete
        at(milliseconds + max(1000, milliseconds / 4), .watch)
    }

    private var isComplete: Bool {
        isHealthy && unproduced == 0 && ledger.tables.nextDue == nil && unfinished().isEmpty
    }

    /// Describes the work that is not done yet.
    private func unfinished() -> String {
        var rest: [String] = []
        for (number, partition) in kafka.partitions.enumerated() {
            // Where the ledger was set back, the group's offset is ahead of it.
            let checkpoint = ledger.tables.next(of: SimulatedKafka.name(Int32(number))) ?? 0
            let complete = min(partition.committed ?? 0, checkpoint)
            guard complete < partition.records.count else { continue }
            rest.append("partition \(number) at \(complete) of \(partition.records.count)")
        }
        for case let life? in lives where life.core.inFlight > 0 {
            rest.append("\(life.name) with \(life.core.inFlight) in flight")
        }
        if unproduced > 0 { rest.append("\(unproduced) records not produced") }
        if ledger.tables.owedCount > 0 { rest.append("\(ledger.tables.owedCount) rows in outbox") }
        if !ledger.tables.waiting.isEmpty { rest.append("\(ledger.tables.waiting.count) rows in retries") }
        return rest.joined(separator: ", ")
    }

    // MARK: Time

    func at(_ milliseconds: Int64, _ event: Event) {
        events.insert(event, due: Instant(nanoseconds: milliseconds * 1_000_000))
    }

    func after(_ microseconds: Int64, _ event: Event) {
        events.insert(event, due: after(microseconds))
    }

    /// The moment so many microseconds from now, or from a later moment.
    func after(_ microseconds: Int64, since other: Instant? = nil) -> Instant {
        Instant(nanoseconds: max(now, other ?? now).nanoseconds + microseconds * 1000)
    }

    /// A length between two others, drawn so that each doubling is as likely as the next.
    func length(_ range: ClosedRange<Int64>) -> Int64 {
        let doublings = Int64.bitWidth - (range.upperBound / range.lowerBound).leadingZeroBitCount
        let least = range.lowerBound << random(0...Int64(doublings - 1))
        return random(least...min(least * 2, range.upperBound))
    }

    func random(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

    func chance(_ thousandths: Int) -> Bool {
        thousandths > 0 && Int.random(in: 0..<1000, using: &random) < thousandths
    }

    /// Microseconds that something takes: mostly as usual, now and then much longer.
    func latency(_ usual: ClosedRange<Int64>) -> Int64 {
        let drawn = random(usual)
        return chance(options.slowness) ? drawn * random(10...300) : drawn
    }

    // MARK: Cores

    private func receive(_ input: Input, _ life: Life) {
        guard life.isAlive else { return }
        if case .written(_, .failure(.disconnected)) = input { life.writerEpoch = epoch }
        if case .ledger(_, .failure(.disconnected)) = input {
            if life.sideEpoch != epoch { life.isLearning = true }
            life.sideEpoch = epoch
        }
        life.inbox.append(input)
        schedule(life, after(random(0...pace)))
    }

    /// The core has a turn by a moment.
    private func schedule(_ life: Life, _ moment: Instant) {
        turns[life.place] = min(turns[life.place], moment)
    }

    /// Of the first event or turn.
    private var nextMoment: Instant? {
        var earliest = events.next ?? Self.never
        for turn in turns where turn < earliest { earliest = turn }
        return earliest == Self.never ? nil : earliest
    }

    private func turnDue() {
        guard let place = turns.firstIndex(where: { $0 <= now }) else { return }
        turns[place] = Self.never
        guard let life = lives[place] else { return }
        turn(life)
    }

    private func turn(_ life: Life) {
        if let until = life.frozenUntil, until > now { return schedule(life, until) }
        if let until = nap(of: life) { return schedule(life, until) }
        let wall = Timestamp(milliseconds: Self.wallStart + milliseconds + life.clockError)
        var inbox: [Input] = []
        swap(&inbox, &life.inbox)
        actions.removeAll()
        let crashesAt = crashPoint(of: inbox)
        for place in inbox.indices {
            if crashesAt == place { return crash(life) }
            trace?.took(inbox[place], life, self)
            life.core.handle(inbox[place], at: now, wall: wall, into: &actions)
        }
        life.core.endTurn(at: now, wall: wall, into: &actions)
        if crashesAt == inbox.count { return crash(life) }
        trace?.ended(actions, life, self)
        judgeTurn(of: life, inbox, actions)
        carryOut(&actions, life)
        life.isLearning = false
        // Terms of an earlier assignment do not count for the new one.
        for case .assigned in inbox { life.terms.merge(life.coming.removeFirst()) { $1 } }
        if crashesAt == inbox.count + 1 { return crash(life) }
        inbox.removeAll(keepingCapacity: true)
        swap(&inbox, &life.inbox)
        guard life.isAlive, let wakeAt = actions.wakeAt else { return }
        life.isIdle = wakeAt - now >= Self.idle && life.core.inFlight == 0
        schedule(life, max(wakeAt, after(1)))
    }

    /// The input of a turn before which the process ends, and loses its decisions and its actions not yet carried out.
    private func crashPoint(of inbox: [Input]) -> Int? {
        guard crashesLeft > 0, !isHealthy, !inbox.isEmpty, chance(20) else { return nil }
        crashesLeft -= 1
        return Int(random(0...Int64(inbox.count + 1)))
    }

    private func crash(_ life: Life) {
        trace?.happened(.kill(life.place), self)
        kill(life.place)
    }

    private func judgeTurn(of life: Life, _ inbox: [Input], _ actions: borrowing Actions) {
        for case .attempted(let results) in inbox {
            for attempted in results {
                guard case .limited(let wait?) = attempted.outcome,
                    let endpoint = life.limiting.removeValue(forKey: attempted.token)
                else { continue }
                witness.limited(life.name, endpoint, until: now + wait)
            }
        }
        guard !life.isStopping else { return }
        for case .written(let id, .success(let results)) in inbox {
            guard let batch = life.batches.removeValue(forKey: id) else { continue }
            witness.heard(results, of: batch, tells: actions.publishes.map(\.event), life.name)
        }
    }

    /// Samples of a ledger in which nothing is due find nothing. Once the faults are over, an idle process stands still
    /// until something is due and a while longer, as on a suspended machine. A doubt lasts six hours, and a seed two
    /// milliseconds.
    private func nap(of life: Life) -> Instant? {
        guard life.isIdle, isHealthy, life.inbox.isEmpty else { return nil }
        guard let dueAt = ledger.tables.nextDue else {
            isDone = isComplete
            return nil
        }
        let due = Instant(nanoseconds: (dueAt - Self.wallStart) * 1_000_000)
        // Not all of them are to wake up for one row.
        return due > now ? due + .milliseconds(random(0...(chance(500) ? 30_000 : 600_000))) : nil
    }
}
