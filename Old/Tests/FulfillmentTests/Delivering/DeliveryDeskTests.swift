import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("Which deliveries are called for, and when")
struct DeliveryDeskTests {
    private static let now = Timestamp(milliseconds: 0)

    /// A desk that expectations may change.
    private final class Bench {
        var desk: DeliveryDesk
        var elapsed = Duration.zero

        init(_ services: [(BundleID, Int)] = [("a", 2)], policy: DeliveryPolicy = DeliveryPolicy()) {
            desk = DeliveryDesk(services.map { (bundleID: $0.0, maxInFlight: $0.1) }, policy: policy)
        }

        func add(_ ids: String..., of bundleID: BundleID = "a") {
            desk.add(ids.map { DeliveryDeskTests.delivery($0, bundleID) })
        }

        func promise(_ count: Int, of bundleID: BundleID) -> Bool {
            desk.promise(count, of: bundleID, elapsed: elapsed)
        }

        func shares() -> [DeliveryShare] { desk.shares(elapsed: elapsed) }

        func changes() -> [DeliveryDesk.Change] { desk.takeChanges(elapsed: elapsed) }

        func next() -> DeliveryDesk.Call? { desk.next(elapsed: elapsed) }

        /// Calls that may be made now.
        func all() -> [DeliveryDesk.Call] {
            var calls: [DeliveryDesk.Call] = []
            while let call = next() { calls.append(call) }
            return calls
        }

        func end(_ call: DeliveryDesk.Call, _ answer: DeliveryAnswer) {
            desk.ended(
                call, answer, took: .milliseconds(5), elapsed: elapsed, now: DeliveryDeskTests.now, unit: { 0.5 })
        }

        func reports() -> [DeliveryReport] {
            let reports = desk.takeReports()
            desk.written(reports)
            return reports
        }

        /// Fails first calls until the service is given up.
        func breakService() {
            for number in 0..<20 {
                add("broken-\(number)")
                for call in all() { end(call, .failed(.unreachable)) }
            }
            _ = reports()
        }
    }

    fileprivate static func delivery(_ id: String, _ bundleID: BundleID) -> Delivery {
        Delivery(
            bundleID: bundleID, grantID: GrantID(id),
            event: Event(id: EventID(id), kind: .granted, key: nil, headers: [], value: nil))
    }

    @Test("No more calls at once than the service is given, and of each service in turn")
    func limit() {
        let bench = Bench([("a", 2), ("b", 1)])
        bench.add("1", "2", "3")
        bench.add("4", "5", of: "b")
        #expect(bench.all().map(\.delivery.event.id).sorted { $0.rawValue < $1.rawValue } == ["1", "2", "4"])
    }

    @Test("A delivery is held until what came of it is in the ledger, and is not taken twice")
    func held() throws {
        let bench = Bench()
        bench.add("1")
        bench.add("1")
        let call = try #require(bench.next())
        #expect(bench.next() == nil)
        bench.end(call, .done)
        #expect(bench.desk.held == ["1"])
        #expect(bench.reports().map(\.end) == [.done])
        #expect(bench.desk.held.isEmpty)
    }

    @Test("A call that did not help is made again from memory when its moment has come")
    func quickTry() throws {
        let bench = Bench()
        bench.add("1")
        bench.end(try #require(bench.next()), .failed(.failed, status: 500))
        #expect(bench.next() == nil)
        #expect(bench.desk.nextMoment == .milliseconds(100))
        bench.elapsed = .milliseconds(100)
        #expect(bench.next()?.delivery.event.id == "1")
    }

    @Test("Settlement is promised room for a share of what may be held, and the rest is due in the ledger")
    func promises() {
        var policy = DeliveryPolicy()
        policy.heldPerCall = 4
        let bench = Bench([("a", 2)], policy: policy)
        #expect(bench.promise(6, of: "a"))
        #expect(!bench.promise(1, of: "a"))
        #expect(!bench.promise(1, of: "unknown"))
        #expect(bench.shares() == [DeliveryShare(bundleID: "a", limit: 2)])
        bench.desk.settled(promised: 6, of: "a")
        #expect(bench.shares() == [DeliveryShare(bundleID: "a", limit: 8)])
    }

    @Test("Of the room that there is in all each service is given an even part, however many services there are")
    func manyServices() {
        let services = (0..<100).map { (BundleID("app-\($0)"), 50) }
        let bench = Bench(services)
        let shares = bench.shares()
        #expect(Set(shares.map(\.bundleID)) == Set(services.map(\.0)))
        #expect(shares.reduce(0) { $0 + $1.limit } <= DeliveryPolicy().maxHeld)
    }

    @Test("Where the room is less than there are services, each has its turn")
    func littleRoom() {
        var policy = DeliveryPolicy()
        policy.maxHeld = 3
        let services = (0..<10).map { (BundleID("app-\($0)"), 50) }
        let bench = Bench(services, policy: policy)
        var asked: Set<BundleID> = []
        for _ in 0..<10 { asked.formUnion(bench.shares().map(\.bundleID)) }
        #expect(asked == Set(services.map(\.0)))
    }

    @Test("A service that is slow, however many calls it is given, leaves room for the others")
    func slowService() {
        let bench = Bench([("a", 1000), ("b", 50)])
        while bench.promise(100, of: "a") {}
        #expect(bench.promise(100, of: "b"))
    }

    @Test("While a service is away nothing is called, taken or counted, and what is held goes back due at once")
    func away() {
        let bench = Bench([("a", 2), ("b", 2)])
        bench.breakService()
        #expect(bench.changes() == [DeliveryDesk.Change(bundleID: "a", isTroubled: true)])
        bench.add("late")
        #expect(bench.next() == nil)
        #expect(bench.reports().map(\.end) == [.again(after: .zero)])
        #expect(bench.shares().map(\.bundleID) == ["b"])
        #expect(!bench.promise(1, of: "a"))
        #expect(bench.promise(1, of: "b"))
    }

    @Test("Once the pause is over a few are taken to find out, and after their answers all")
    func probes() {
        let bench = Bench()
        bench.breakService()
        bench.elapsed = .seconds(2)
        #expect(bench.shares() == [DeliveryShare(bundleID: "a", limit: 2)])
        for id in ["p1", "p2", "p3"] {
            bench.add(id)
            for call in bench.all() { bench.end(call, .done) }
        }
        bench.elapsed = .seconds(60)
        #expect(bench.changes() == [])
        #expect(bench.promise(1, of: "a"))
    }

    @Test("A stop gives back what no call is under way for, and ends when the calls have ended")
    func stop() throws {
        let bench = Bench([("a", 1)])
        bench.add("1", "2")
        let call = try #require(bench.next())
        bench.desk.close()
        #expect(bench.next() == nil)
        #expect(bench.reports().map(\.eventID) == ["2"])
        #expect(!bench.desk.isFinished)
        bench.end(call, .failed(.failed, status: 500))
        let last = bench.reports()
        #expect(last.map(\.end) == [.again(after: .milliseconds(100))])
        #expect(last.map(\.attempts) == [1])
        #expect(bench.desk.isFinished)
    }

    @Test("Whatever happens, no delivery is lost, called twice at once or called over its limits", arguments: 0..<25)
    func property(seed: UInt64) throws {
        var model = DeskModel(seed: seed)
        for _ in 0..<800 { try model.step() }
        try model.finish()
    }
}

/// A desk under random events, beside a ledger and what is to be true of both.
private struct DeskModel {
    enum Row: Equatable { case due(Duration), held, done }

    var random: SeededGenerator
    var desk: DeliveryDesk
    var elapsed = Duration.zero
    var ledger: [EventID: Row] = [:]
    var deliveries: [EventID: Delivery] = [:]
    var underWay: [DeliveryDesk.Call] = []
    var yes: Set<EventID> = []
    var healthy = 1.0
    let services: [(bundleID: BundleID, maxInFlight: Int)] = [("a", 3), ("b", 1), ("c", 40)]
    let policy: DeliveryPolicy

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var policy = DeliveryPolicy()
        policy.maxHeld = 60
        policy.heldPerCall = 3
        self.policy = policy
        desk = DeliveryDesk(services, policy: policy)
    }

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<20: open()
        case 20..<30: take()
        case 30..<60: call()
        case 60..<85: end()
        case 85..<92: write()
        case 92..<99: elapsed += .milliseconds(Int.random(in: 1...800, using: &random))
        default:
            elapsed += .seconds(Int.random(in: 1...30, using: &random))
            healthy = [0, 0.5, 0.9, 1].randomElement(using: &random) ?? 1
        }
        try check()
    }

    private mutating func open() {
        let service = services[Int.random(in: 0..<services.count, using: &random)]
        let count = Int.random(in: 1...3, using: &random)
        let isHeld = desk.promise(count, of: service.bundleID, elapsed: elapsed)
        var opened: [Delivery] = []
        for _ in 0..<count {
            let delivery = DeliveryDeskTests.delivery("d-\(deliveries.count)", service.bundleID)
            deliveries[delivery.event.id] = delivery
            ledger[delivery.event.id] = isHeld ? .held : .due(elapsed)
            opened.append(delivery)
        }
        guard isHeld else { return }
        desk.settled(promised: count, of: service.bundleID)
        desk.add(opened)
    }

    private mutating func take() {
        for share in desk.shares(elapsed: elapsed) {
            let due = ledger.filter { entry in
                guard case .due(let moment) = entry.value else { return false }
                return moment <= elapsed && deliveries[entry.key]?.bundleID == share.bundleID
            }.keys.sorted { $0.rawValue < $1.rawValue }.prefix(share.limit)
            for id in due { ledger[id] = .held }
            desk.add(due.compactMap { deliveries[$0] })
        }
    }

    private mutating func call() {
        if let call = desk.next(elapsed: elapsed) { underWay.append(call) }
    }

    private mutating func end() {
        guard !underWay.isEmpty else { return }
        let call = underWay.remove(at: Int.random(in: 0..<underWay.count, using: &random))
        let answer: DeliveryAnswer =
            switch Int.random(in: 0..<30, using: &random) {
            case 0: .unknown
            case 1: .failed(.limited, status: 429, retryAfter: .seconds(Int.random(in: 0...20, using: &random)))
            case 2: .failed(.conflict, status: 409)
            default: Double.random(in: 0..<1, using: &random) < healthy ? .done : .failed(.failed, status: 500)
            }
        if answer == .done { yes.insert(call.delivery.event.id) }
        let unit = Double.random(in: 0..<1, using: &random)
        desk.ended(
            call, answer, took: .milliseconds(20), elapsed: elapsed, now: Timestamp(milliseconds: 0), unit: { unit })
    }

    private mutating func write() {
        let reports = desk.takeReports()
        for report in reports {
            switch report.end {
            case .done: ledger[report.eventID] = .done
            case .again(let delay): ledger[report.eventID] = .due(elapsed + delay)
            }
        }
        desk.written(reports)
    }

    private func check() throws {
        try #require(desk.heldCount <= policy.maxHeld)
        try #require(Set(underWay.map(\.delivery.event.id)).count == underWay.count, "called twice at once")
        for service in services {
            let calls = underWay.count { $0.delivery.bundleID == service.bundleID }
            try #require(calls <= service.maxInFlight, "too many calls at once")
        }
        let held = Set(ledger.filter { $0.value == .held }.keys)
        try #require(held == Set(desk.held), "the ledger's leases and what the desk holds differ")
        for (id, row) in ledger where row == .done { try #require(yes.contains(id), "done without a yes") }
    }

    /// From now on everything is answered: all must be done soon.
    mutating func finish() throws {
        healthy = 1
        for _ in 0..<20_000 {
            guard ledger.values.contains(where: { $0 != .done }) else { break }
            take()
            while let call = desk.next(elapsed: elapsed) { underWay.append(call) }
            while let call = underWay.popLast() {
                yes.insert(call.delivery.event.id)
                desk.ended(
                    call, .done, took: .milliseconds(20), elapsed: elapsed, now: Timestamp(milliseconds: 0),
                    unit: { 0.5 })
            }
            write()
            elapsed += .seconds(1)
            try check()
        }
        #expect(ledger.values.allSatisfy { $0 == .done })
        desk.close()
        #expect(desk.isFinished)
    }
}
