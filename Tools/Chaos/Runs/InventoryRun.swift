import Contract
import Glibc
import InventoryService
import Kafka
import KafkaScanning
import Scheduling
import Synchronization

/// An app's inventory service breaks in every way, and so do the workers that call it. Two other apps must not notice:
/// one has a service of its own that is well, one has none.
struct InventoryRun: Run {
    /// The service of the first app, while faults come.
    private enum Fault: String, CaseIterable {
        case slow = "answers after 2 s"
        case late = "applies, and answers nobody"
        case dying = "applies, and ends the connection"
        case refusing = "refuses every tenth grant (422)"
        case failing = "answers 500"
        case limiting = "answers 503 with Retry-After"
        case away = "is away"
        case closed = "knows no secret of ours (401)"
        case rotating = "changes its secret"
    }

    /// Longest time to an event of the other apps, for 99 of 100, beside the calm of before.
    private static let othersLimit: Int64 = 1000
    private static let endLimit = Duration.seconds(300)
    private static let calmSeconds = 20
    /// Submissions of each app before anything is measured.
    private static let firsts = 50
    private static let secrets = ["0123456789abcdef-one", "0123456789abcdef-two"]
    private static let (broken, healthy) = (World.apps[0], World.apps[1])
    /// The whole of a call; the fault `late` costs as much for each.
    private static let callTimeout = 3

    private let options: Options
    /// Which secret is in force.
    private var secret = 0

    init(options: Options) { self.options = options }

    private enum Stage: String, CaseIterable {
        case calm = "in calm"
        /// Faults of the first app's service alone: other apps must not notice.
        case faults = "with faults"
        /// And workers are killed, one in the middle of each fault.
        case kills = "with faults and kills"
    }

    private struct Sent {
        let name: String
        let app: Int
        let stage: Stage
        /// When it was produced.
        let at: Int64
    }

    mutating func run() throws -> Bool {
        let world = try World(options, World.Needs(ledger: .postgres))
        let now: @Sendable () -> Timestamp = { Timestamp(milliseconds: clock()) }
        let one = try InventoryService(secrets: [Self.secrets[0]], now: now)
        let other = try InventoryService(secrets: [Self.secrets[0]], now: now)
        defer {
            one.stop()
            other.stop()
        }
        try write(world, one, other, secrets: [0])
        let traffic = try Traffic(world)
        let fleet = try Fleet(world, workers: options.workers)
        var report = Report()
        var sent: [Sent] = []
        try warmUp(world, traffic)
        let start = Instant.now
        let perSecond = Double(options.submissions) / Double(options.seconds + Self.calmSeconds)
        /// Sends for so long, evenly.
        func send(seconds: Double, _ stage: Stage) throws {
            let begin = Instant.now
            let first = sent.count
            let count = min(Int(perSecond * seconds), options.submissions - first)
            for number in 0..<max(0, count) {
                rest(until: begin + .milliseconds(Int(Double(number) * 1000 / perSecond)))
                let (name, app) = ("order-\(sent.count)", sent.count % World.apps.count)
                try traffic.signed(name, app: app)
                sent.append(Sent(name: name, app: app, stage: stage, at: clock()))
            }
            rest(until: begin + .milliseconds(Int(seconds * 1000)))
        }
        try send(seconds: Double(Self.calmSeconds), .calm)
        say("\(sent.count) submissions in calm; faults come for \(options.seconds) s")
        let each = Double(options.seconds) / Double(2 * Fault.allCases.count)
        for stage in [Stage.faults, .kills] {
            for fault in Fault.allCases {
                try begin(fault, one, other, world, fleet)
                try send(seconds: each / 2, stage)
                if stage == .kills {
                    let place = Int.random(in: 0..<options.workers, using: &world.random)
                    fleet.kill(place)
                    rest(milliseconds: 300)
                    try fleet.start(place)
                }
                try send(seconds: each / 2, stage)
                if stage == .faults { try askCommands(fault, one, world, &report) }
                try end(fault, one, other, world, fleet)
                let book = one.soFar
                say(
                    "after \(seconds(since: start)) s, \(stage.rawValue): the service \(fault.rawValue): "
                        + "\(book.calls) calls, \(book.applied.count) applied")
            }
        }
        while sent.count < options.submissions { try send(seconds: 1, .kills) }
        try traffic.flush()
        return try judge(world, traffic, fleet, [one, other], sent, &report)
    }

    /// The workers' start, and each app's first call, are not measured.
    private func warmUp(_ world: World, _ traffic: Traffic) throws {
        for number in 0..<(Self.firsts * World.apps.count) { try traffic.signed("first-\(number)", app: number) }
        try traffic.flush()
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        guard try judge.wait(.seconds(120)) == traffic.expected.count else {
            throw ChaosFailure("the first submissions are not told")
        }
        rest(milliseconds: 3000)
    }

    // MARK: Faults

    private mutating func begin(
        _ fault: Fault, _ one: InventoryService, _ other: InventoryService, _ world: World, _ fleet: Fleet
    ) throws {
        switch fault {
        case .slow: one.behave { _ in .apply(after: .seconds(2)) }
        case .late: one.behave { _ in .applyAndHang }
        case .dying: one.behave { _ in .applyAndClose }
        // The last character of the event's id decides, so a refused grant stays refused.
        case .refusing: one.behave { $0.key.utf8.last == UInt8(ascii: "7") ? .refuse(status: 422) : .apply() }
        case .failing: one.behave { _ in .refuse(status: 500) }
        case .limiting: one.behave { _ in .refuse(status: 503, retryAfter: 3) }
        case .away: one.stop()
        case .closed: one.accept(secrets: ["none of ours"])
        case .rotating:
            // The order of the documentation: workers sign with both, then the service takes the new one alone.
            secret = 1 - secret
            try write(world, one, other, secrets: [secret, 1 - secret])
            for worker in fleet.workers { worker.signal(SIGHUP) }
            rest(milliseconds: 1000)
            one.accept(secrets: [Self.secrets[secret]])
        }
    }

    private func end(
        _ fault: Fault, _ one: InventoryService, _ other: InventoryService, _ world: World, _ fleet: Fleet
    ) throws {
        one.behave { _ in .apply() }
        switch fault {
        case .away: try one.start()
        case .closed: one.accept(secrets: [Self.secrets[secret]])
        case .rotating:
            other.accept(secrets: [Self.secrets[secret]])
            try write(world, one, other, secrets: [secret])
            for worker in fleet.workers { worker.signal(SIGHUP) }
        default: break
        }
    }

    /// Commands must tell people of grants that wait, and for what.
    private func askCommands(
        _ fault: Fault, _ one: InventoryService, _ world: World, _ report: inout Report
    ) throws {
        switch fault {
        case .refusing:
            let book = one.soFar
            let refused = book.refused.first { book.applied[$0] == nil }.flatMap { book.bodies[$0]?.first }
            guard let body = refused, let submission = TopicJudge.member("submissionId", body) else {
                return report.fault("no grant was refused")
            }
            let words = ["submissions", "show", submission, "--app", Self.broken.rawValue]
            let text = try world.output(of: words) ?? ""
            say(text.split(separator: "\n").prefix(2).joined(separator: "\n"))
            report.expect(text.contains("inventory service refuses it (HTTP 422)"), "nobody is told of a refused grant")
        case .away:
            let owed = try world.output(of: ["outbox", "list", "--limit", "3"]) ?? ""
            say(owed)
            report.expect(owed.contains("inventory service of \(Self.broken)"), "outbox list tells of no call")
            let check = try world.output(of: ["check"]) ?? ""
            let lines = check.split(separator: "\n").filter { $0.hasPrefix("inventory service") }
            say(lines.joined(separator: "\n"))
            report.expect(
                lines.count == 2 && lines.contains { $0.contains("warning") && $0.contains(Self.broken.rawValue) },
                "check does not tell which service is away")
        default: return
        }
    }

    /// The apps file, and the files that it names.
    private func write(
        _ world: World, _ one: InventoryService, _ other: InventoryService, secrets: [Int]
    ) throws(ChaosFailure) {
        for (number, secret) in Self.secrets.enumerated() {
            try writeText(secret + "\n", to: "\(world.folder)/secret-\(number)")
        }
        let files = secrets.map { "secret-\($0)" }.joined(separator: ", ")
        var text = "apps:\n"
        for app in World.apps {
            text += "  - bundleId: \(app)\n    sandbox: {policy: reject}\n    products: any\n"
            guard let service = [Self.broken: one, Self.healthy: other][app] else { continue }
            try writeText(service.rootPEM, to: "\(world.folder)/\(app).pem")
            text += "    fulfillment: {url: '\(service.url)', secretFiles: [\(files)], timeout: \(Self.callTimeout)s, "
            text += "maxInFlight: 100, caFile: \(app).pem}\n"
        }
        try writeText(text, to: world.folder + "/apps.yaml")
    }

    // MARK: The end

    private func judge(
        _ world: World, _ traffic: Traffic, _ fleet: Fleet, _ services: [InventoryService], _ sent: [Sent],
        _ report: inout Report
    ) throws -> Bool {
        let judge = try report.judge(world, traffic, fleet, since: .now, within: Self.endLimit)
        try judgeBooks(services.map(\.soFar), world, sent, &report)
        try judgeOthers(judge, sent, &report)
        return report.end(world)
    }

    /// Compares services' books with published events.
    private func judgeBooks(
        _ books: [InventoryService.Book], _ world: World, _ sent: [Sent], _ report: inout Report
    ) throws {
        var told: [String: (app: String, at: Int64, body: [UInt8])] = [:]
        try world.scan.read(topics: [Topic.granted.defaultName]) { batch in
            for record in batch.records {
                let id = record.headers.first { $0.name == "ce_id" }?.value.map { String(decoding: $0, as: UTF8.self) }
                guard let id, let app = TopicJudge.member("bundleId", record.value),
                    let at = record.timestamp?.milliseconds
                else { continue }
                if let before = told[id], before.at <= at { continue }
                told[id] = (app, at, record.value ?? [])
            }
            return true
        }
        for (app, book) in zip([Self.broken, Self.healthy], books) {
            let own = told.filter { $0.value.app == app.rawValue }
            let uncalled = own.keys.count { book.applied[$0] == nil }
            report.expect(uncalled == 0, "\(app): \(uncalled) grants are told that its service does not have")
            let early = own.count { key, event in
                book.applied[key].map { entry in entry.saidYesAt.map { event.at < $0 } ?? true } ?? false
            }
            report.expect(early == 0, "\(app): \(early) grants were told before the service's yes")
            let unknown = book.applied.keys.count { own[$0] == nil }
            report.expect(unknown == 0, "\(app): \(unknown) grants stand in the service's book and were never told")
            let differing = book.bodies.count { $0.value.count > 1 || own[$0.key].map { $0.body } != $0.value.first }
            report.expect(differing == 0, "\(app): \(differing) keys came with other bytes than their event's")
            report.expect(
                book.unnamed == 0, "\(app): \(book.unnamed) calls had no key, or another one than their event")
            let wanted = sent.count { World.apps[$0.app] == app } + Self.firsts
            report.expect(
                book.applied.count == wanted, "\(app): \(book.applied.count) grants applied for \(wanted) purchases")
            say(
                "\(app): \(book.calls) calls for \(book.applied.count) grants, each applied once; "
                    + "\(book.refused.count) were refused for a while, \(book.forged) calls had a secret of before; "
                    + "\(uncalled) not called for, \(early) told before their yes")
        }
    }

    /// Apps that have nothing to do with the service that broke.
    private func judgeOthers(_ judge: TopicJudge, _ sent: [Sent], _ report: inout Report) throws {
        let times = try judge.times(.granted)
        func latencies(_ app: Int, _ stage: Stage) -> Latencies {
            Latencies(
                sent.compactMap { one in
                    one.app == app && one.stage == stage ? times[one.name].map { $0 - one.at } : nil
                })
        }
        let apps = [
            (2, "without a service"), (1, "with a service that is well"), (0, "with the service that broke"),
        ]
        for (app, words) in apps {
            for stage in Stage.allCases {
                say("\(World.apps[app]), \(words), \(stage.rawValue): \(latencies(app, stage).text)")
            }
            guard app > 0 else { continue }
            let (calm, broken) = (latencies(app, .calm).at(0.99), latencies(app, .faults).at(0.99))
            report.expect(
                broken <= calm + Self.othersLimit,
                "\(World.apps[app]): 99 of 100 events took \(broken) ms while another app's service broke")
        }
    }
}

/// Milliseconds of the wall clock, which brokers stamp records by.
private func clock() -> Int64 { Int64(WallClock.milliseconds) }
