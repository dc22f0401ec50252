import Purchases
import Testing

@testable import Fulfillment

/// Callers who do everything that callers may, beside a list of who waits where.
private struct AdmissionModel {
    static let apps: [BundleID] = ["a", "b", "c"]
    static let targets =
        Environment.allCases.map(CallTarget.verifyReceipt)
        + apps.flatMap { app in Environment.allCases.map { CallTarget.serverAPI($0, app) } }
    static let mostCalls = 40

    struct Waiting {
        let id: CallerID
        let target: CallTarget
        let lane: CallLine.Lane
    }

    var random: SeededGenerator
    var admission = CallAdmission(targets: targets, policy: AvailabilityPolicy(), mostCalls: mostCalls)
    var elapsed = Duration.zero
    var nextID: UInt64 = 0
    /// In the order they came.
    var waiting: [Waiting] = []
    var underWay: [(permit: CallAdmission.Permit, target: CallTarget)] = []
    var ledgerAnswers = true
    var sick: Set<CallTarget> = []
    var made = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    func calls(_ target: CallTarget) -> TargetCalls? { admission.targets.first { $0.target == target } }

    /// Those whom a crowded line sent away wait no more.
    mutating func leave() throws {
        let gone = Set(admission.takeSentAway().map(\.id))
        for waiter in waiting where gone.contains(waiter.id) {
            try #require(waiter.id.asker != .patient)
            try #require(calls(waiter.target)?.breaker.isAway == true)
            let isOfTopic = waiter.id.asker == .topic
            try #require(!(isOfTopic && waiter.target == .verifyReceipt(.production)), "they are Apple's")
        }
        let before = waiting.count
        waiting.removeAll { gone.contains($0.id) }
        try #require(before - waiting.count == gone.count, "each is sent away once")
    }

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: try come()
        case 40..<46: giveUp()
        case 46..<85: try end()
        case 85..<97: try pass(.milliseconds(Int.random(in: 1...300, using: &random)))
        case 97: try pass(.seconds(Int.random(in: 1...20, using: &random)))
        case 98:
            ledgerAnswers.toggle()
            let admitted = admission.ledger(answers: ledgerAnswers, elapsed: elapsed)
            try take(admitted)
        default: sick.formSymmetricDifference([Self.targets.randomElement(using: &random) ?? Self.targets[0]])
        }
        try check()
    }

    mutating func come() throws {
        guard waiting.count < 300, let target = Self.targets.randomElement(using: &random),
            let lane = CallLine.Lane.allCases.randomElement(using: &random)
        else { return }
        if let permit = admission.permitAtOnce(for: target, lane, elapsed: elapsed) {
            try begun(permit, target, lane)
            return
        }
        nextID += 1
        let asker: Asker = [.topic, .ledger, .patient].randomElement(using: &random) ?? .patient
        let id = CallerID(rawValue: nextID, for: asker)
        guard admission.isCrowded(target, for: asker, elapsed: elapsed) == nil else {
            try #require(asker != .patient && calls(target)?.breaker.isAway == true, "only for what is away")
            return
        }
        waiting.append(Waiting(id: id, target: target, lane: lane))
        try take(admission.wait(id, for: target, lane, elapsed: elapsed) ?? [])
    }

    mutating func giveUp() {
        guard !waiting.isEmpty else { return }
        let gone = waiting.remove(at: Int.random(in: 0..<waiting.count, using: &random))
        admission.withdraw(gone.id, from: gone.target, gone.lane)
    }

    mutating func end() throws {
        guard !underWay.isEmpty else { return }
        let call = underWay.remove(at: Int.random(in: 0..<underWay.count, using: &random))
        let outcome: CallOutcome =
            sick.contains(call.target)
            ? ([.failed, .overloaded, .limited(wait: .seconds(5))].randomElement(using: &random) ?? .failed)
            : Int.random(in: 0..<50, using: &random) == 0 ? .unknown : .answered
        let unit = Double.random(in: 0..<1, using: &random)
        try take(
            admission.ended(
                call.permit, outcome, isRetry: false, took: .milliseconds(250), elapsed: elapsed, unit: { unit }))
    }

    mutating func pass(_ duration: Duration) throws {
        elapsed += duration
        try take(admission.advance(to: elapsed))
    }

    mutating func take(_ admitted: [CallAdmission.Admitted]) throws {
        try leave()
        for admitted in admitted {
            let place = try #require(waiting.firstIndex { $0.id == admitted.id }, "let go twice, or after giving up")
            let waiter = waiting.remove(at: place)
            let isOldest = !waiting[..<place].contains { $0.target == waiter.target && $0.lane == waiter.lane }
            try #require(isOldest, "an older one of the same kind is passed over")
            try begun(admitted.permit, waiter.target, waiter.lane)
        }
    }

    mutating func begun(_ permit: CallAdmission.Permit, _ target: CallTarget, _ lane: CallLine.Lane) throws {
        underWay.append((permit, target))
        made += 1
        try #require(calls(target)?.breaker.phase != .open, "a call to a target that is not to be called")
        try #require(ledgerAnswers || lane == .goingOn, "a call for what the ledger cannot take")
    }

    func check() throws {
        try #require(admission.inFlight == underWay.count)
        try #require(underWay.count <= Self.mostCalls)
        try #require(admission.waiting == waiting.count)
        let production = admission.targets.filter { $0.target.environment == .production }
        let isHeld =
            production.contains(where: \.isKnownAway) && !production.contains { !$0.isKnownAway && $0.isInUse }
        try #require(admission.holdsIntake == isHeld)
        let forAway = waiting.count {
            $0.target != .verifyReceipt(.production) && calls($0.target)?.breaker.isAway == true
        }
        try #require(admission.waitingForAway == forAway)
        let moments = admission.targets.compactMap {
            $0.nextMoment(beginsTries: ledgerAnswers && underWay.count < Self.mostCalls)
        }
        let isAnyTroubled = admission.targets.contains { $0.breaker.phase != .closed }
        if let next = admission.nextMoment {
            try #require(moments.min().map { next <= $0 } ?? true)
        } else {
            try #require(moments.isEmpty || !(isAnyTroubled || !waiting.isEmpty))
        }
        for calls in admission.targets where calls.inFlight > 0 {
            let count = underWay.count { $0.target == calls.target }
            try #require(calls.inFlight == count)
        }
    }

    /// All is well from now on: everybody who waits must be let go, at the moments that the admission names.
    mutating func drain() throws {
        sick = []
        ledgerAnswers = true
        let admitted = admission.ledger(answers: true, elapsed: elapsed)
        try take(admitted)
        let deadline = elapsed + .seconds(120)
        while !waiting.isEmpty || !underWay.isEmpty {
            try #require(elapsed < deadline, "\(waiting.count) are never let go")
            if underWay.isEmpty {
                let moment = try #require(admission.nextMoment, "\(waiting.count) wait for nothing")
                elapsed = max(elapsed, moment)
                try take(admission.advance(to: elapsed))
            } else {
                elapsed += .milliseconds(1)
                try end()
            }
            try check()
        }
    }
}

@Suite("Who may call Apple")
struct CallAdmissionTests {
    private static let production = CallTarget.verifyReceipt(.production)

    @Test("nobody is lost, passed over or let go too soon, whatever callers do", arguments: 0..<25)
    func promises(seed: Int) throws {
        var model = AdmissionModel(seed: UInt64(seed))
        for _ in 0..<12_000 { try model.step() }
        #expect(model.made > 1000)
        try model.drain()
    }

    @Test("while retries wait, every fourth call is one of what was never asked")
    func freshShare() throws {
        var admission = CallAdmission(targets: [Self.production], policy: AvailabilityPolicy(), mostCalls: 1)
        let first = admission.permitAtOnce(for: Self.production, .goingOn, elapsed: .zero)
        var permit = try #require(first)
        for id in 0..<12 {
            let lane: CallLine.Lane = id < 8 ? .again : .first
            _ = admission.wait(CallerID(rawValue: UInt64(id)), for: Self.production, lane, elapsed: .zero)
        }
        var order: [UInt64] = []
        for _ in 0..<10 {
            let admitted = admission.ended(permit, .answered, isRetry: false, took: .zero, elapsed: .zero, unit: { 0 })
            permit = try #require(admitted.first).permit
            order.append(admitted[0].id.rawValue)
        }
        #expect(order == [0, 1, 2, 8, 3, 4, 5, 9, 6, 7])
    }

    @Test("once it is closed nothing begins, and what has begun may go on")
    func closed() throws {
        var admission = CallAdmission(targets: [Self.production], policy: AvailabilityPolicy(), mostCalls: 2)
        let one = admission.permitAtOnce(for: Self.production, .first, elapsed: .zero)
        let two = admission.permitAtOnce(for: Self.production, .first, elapsed: .zero)
        #expect(two != nil)
        _ = admission.wait(CallerID(rawValue: 9), for: Self.production, .first, elapsed: .zero)
        let sentAway = admission.close()
        #expect(sentAway == [CallerID(rawValue: 9)])
        let admitted = admission.ended(
            try #require(one), .answered, isRetry: false, took: .zero, elapsed: .zero, unit: { 0 })
        #expect(admitted.isEmpty)
        let fresh = admission.permitAtOnce(for: Self.production, .first, elapsed: .zero)
        let further = admission.permitAtOnce(for: Self.production, .goingOn, elapsed: .zero)
        #expect(fresh == nil)
        #expect(further != nil)
    }

    @Test("intake is held while all that is asked of production is away, and not for one app or the sandbox")
    func intake() {
        let one = CallTarget.serverAPI(.production, "one")
        let other = CallTarget.serverAPI(.production, "other")
        let sandbox = CallTarget.verifyReceipt(.sandbox)
        var admission = CallAdmission(
            targets: [one, other, sandbox], policy: AvailabilityPolicy(), mostCalls: 100)
        func fail(_ target: CallTarget, _ outcome: CallOutcome, _ elapsed: Duration) {
            for _ in 0..<20 {
                guard let permit = admission.permitAtOnce(for: target, .first, elapsed: elapsed) else { return }
                _ = admission.ended(permit, outcome, isRetry: false, took: .zero, elapsed: elapsed, unit: { 0 })
            }
        }
        fail(sandbox, .failed, .zero)
        #expect(!admission.holdsIntake)
        fail(other, .answered, .zero)
        fail(one, .failed, .zero)
        #expect(!admission.holdsIntake, "the other app's purchases go on")
        _ = admission.advance(to: .seconds(60))
        #expect(!admission.holdsIntake, "its pause is over, and nobody has asked since")
        let probe = admission.permitAtOnce(for: one, .first, elapsed: .seconds(60))
        #expect(probe != nil)
        #expect(admission.holdsIntake, "nobody asks for the other app any more")
        fail(other, .answered, .seconds(60))
        #expect(!admission.holdsIntake)
    }

    /// Calls whose outcome stops a target, or shows that it is in use.
    private static func end(
        _ admission: inout CallAdmission, _ target: CallTarget, _ outcome: CallOutcome, _ elapsed: Duration = .zero
    ) {
        let permits = (0..<20).compactMap { _ in admission.permitAtOnce(for: target, .first, elapsed: elapsed) }
        for permit in permits {
            _ = admission.ended(permit, outcome, isRetry: false, took: .zero, elapsed: elapsed, unit: { 0 })
        }
    }

    private static func line(
        _ admission: inout CallAdmission, _ target: CallTarget, _ ids: Range<UInt64>, _ asker: Asker = .topic
    ) {
        for id in ids {
            _ = admission.wait(CallerID(rawValue: id, for: asker), for: target, .first, elapsed: .zero)
        }
    }

    private static let lookups = CallTarget.serverAPI(.production, "app")

    @Test("a quarter of the calls may wait for a target that is away alone, three of what is due, and anybody else")
    func crowded() {
        var admission = CallAdmission(
            targets: [Self.production, Self.lookups], policy: AvailabilityPolicy(), mostCalls: 40)
        Self.end(&admission, Self.production, .answered)
        #expect(admission.isCrowded(Self.lookups, for: .ledger, elapsed: .zero) == nil)
        Self.end(&admission, Self.lookups, .failed)
        Self.line(&admission, Self.lookups, 0..<2)
        #expect(admission.isCrowded(Self.lookups, for: .ledger, elapsed: .zero) == nil)
        Self.line(&admission, Self.lookups, 2..<9)
        #expect(admission.isCrowded(Self.lookups, for: .ledger, elapsed: .zero) != nil)
        #expect(admission.isCrowded(Self.lookups, for: .topic, elapsed: .zero) == nil)
        Self.line(&admission, Self.lookups, 9..<10)
        #expect(admission.isCrowded(Self.lookups, for: .topic, elapsed: .zero) != nil)
        #expect(admission.isCrowded(Self.lookups, for: .patient, elapsed: .zero) == nil)
    }

    @Test(
        "all that is read may wait for production's verifyReceipt, and three of what is due, unless nothing else is in use"
    )
    func crowdedAtApple() {
        var admission = CallAdmission(
            targets: [Self.production, Self.lookups], policy: AvailabilityPolicy(), mostCalls: 40)
        Self.end(&admission, Self.lookups, .answered)
        Self.end(&admission, Self.production, .failed)
        Self.line(&admission, Self.production, 0..<100)
        #expect(admission.isCrowded(Self.production, for: .topic, elapsed: .zero) == nil, "when that is away Apple is")
        #expect(admission.isCrowded(Self.production, for: .ledger, elapsed: .zero) != nil)
        #expect(!admission.holdsDue)
        _ = admission.advance(to: .seconds(60))
        #expect(admission.holdsDue)
        #expect(admission.isCrowded(Self.production, for: .ledger, elapsed: .seconds(60)) == nil)
        let sentAway = admission.takeSentAway()
        #expect(sentAway.isEmpty)
    }

    @Test("targets that are away share a quarter of the calls, and half as much again of their probes")
    func shared() {
        let apps = (0..<20).map { CallTarget.serverAPI(.production, BundleID("app-\($0)")) }
        var admission = CallAdmission(
            targets: [Self.production] + apps, policy: AvailabilityPolicy(), mostCalls: 80)
        Self.end(&admission, Self.production, .answered)
        var id: UInt64 = 0
        for app in apps {
            Self.end(&admission, app, .failed)
            while admission.isCrowded(app, for: .topic, elapsed: .zero) == nil {
                Self.line(&admission, app, id..<id + 1)
                id += 1
            }
        }
        #expect(admission.targets.map(\.line.count).sorted().reversed().prefix(6) == [20, 3, 3, 3, 3, 0])
        #expect(admission.isCrowded(apps[19], for: .ledger, elapsed: .zero) != nil)
    }

    @Test("when a pause is over one may wait to probe, whatever waits for others: all calls may be theirs")
    func probes() throws {
        let other = CallTarget.serverAPI(.production, "other")
        var admission = CallAdmission(
            targets: [Self.production, Self.lookups, other], policy: AvailabilityPolicy(), mostCalls: 40)
        let first = admission.permitAtOnce(for: other, .first, elapsed: .zero)
        _ = admission.ended(
            try #require(first), .limited(wait: .seconds(1)), isRetry: false, took: .zero, elapsed: .zero, unit: { 0 })
        Self.end(&admission, Self.lookups, .failed)
        Self.line(&admission, Self.lookups, 0..<20)
        while admission.permitAtOnce(for: Self.production, .first, elapsed: .zero) != nil {}
        for asker in [Asker.topic, .ledger] {
            #expect(admission.isCrowded(other, for: asker, elapsed: .zero) != nil)
        }
        _ = admission.advance(to: .seconds(2))
        for asker in [Asker.topic, .ledger] {
            #expect(admission.isCrowded(other, for: asker, elapsed: .seconds(2)) == nil)
        }
    }

    @Test("who stands in line when a target goes away alone is sent away, but for a quarter of the calls")
    func thinned() {
        var admission = CallAdmission(
            targets: [Self.production, Self.lookups], policy: AvailabilityPolicy(), mostCalls: 40)
        Self.end(&admission, Self.production, .answered)
        let permits = (0..<39).compactMap { _ in
            admission.permitAtOnce(for: Self.lookups, .first, elapsed: .zero)
        }
        let last = admission.permitAtOnce(for: Self.lookups, .first, elapsed: .zero)
        Self.line(&admission, Self.lookups, 0..<100)
        #expect(admission.waiting == 100)
        for permit in permits + [last].compactMap(\.self) {
            _ = admission.ended(
                permit, .limited(wait: .seconds(3600)), isRetry: false, took: .zero, elapsed: .zero, unit: { 0 })
        }
        let gone = admission.takeSentAway()
        #expect(gone.map(\.id) == (10..<100).map { CallerID(rawValue: $0, for: .topic) })
        #expect(admission.waiting == 10)
        let more = admission.takeSentAway()
        #expect(more.isEmpty)
    }

    @Test("while nothing else is in use the line is left a few at a time, and not at all while Apple is away")
    func trickle() throws {
        var admission = CallAdmission(
            targets: [Self.production, Self.lookups], policy: AvailabilityPolicy(), mostCalls: 40)
        let first = admission.permitAtOnce(for: Self.lookups, .first, elapsed: .zero)
        let permit = try #require(first)
        _ = admission.ended(
            permit, .limited(wait: .seconds(3600)), isRetry: false, took: .zero, elapsed: .zero, unit: { 0 })
        #expect(admission.holdsIntake)
        Self.line(&admission, Self.lookups, 0..<40)
        #expect(admission.isCrowded(Self.lookups, for: .topic, elapsed: .zero) == nil)
        var waiting: [Int] = []
        for _ in 0..<5 {
            let next = try #require(admission.nextMoment)
            #expect(next <= .seconds(15 * (waiting.count + 1)), "it does not wait for the pause to end")
            _ = admission.advance(to: next)
            waiting.append(admission.waiting)
        }
        #expect(waiting == [30, 20, 10, 5, 5])
        Self.line(&admission, Self.lookups, 40..<80)
        let second = admission.permitAtOnce(for: Self.production, .first, elapsed: .seconds(76))
        let other = try #require(second)
        _ = admission.ended(
            other, .limited(wait: .seconds(3600)), isRetry: false, took: .zero, elapsed: .seconds(76), unit: { 0 })
        _ = admission.advance(to: .seconds(100))
        #expect(admission.waiting == 45, "what would be read in its place could not be asked about either")
    }
}
