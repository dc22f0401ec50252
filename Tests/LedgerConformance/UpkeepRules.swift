public import Contract
public import Ledger

extension LedgerConformance {
    static let upkeepRules: [ConformanceRule] = eventRules + importRules + pruneRules + erasureRules

    // MARK: Events that are told again

    private static let eventRules: [ConformanceRule] = [
        ConformanceRule("Events that are told again are the same bytes, in the order of their rows") { subject in
            try subject.own()
            var first: [Event] = []
            for number in 1...3 {
                let submission = Samples.submission(
                    SubmissionID("s\(number)"), order: "o1", offset: Int64(number), traceparent: "00-1")
                let purchase = Samples.purchase(TransactionID("\(number)"), quantity: number)
                first += try subject.write(Samples.grant(submission, purchase, at: Int64(number)))[0].events
            }
            let failed = try subject.write(Samples.fail(Samples.submission("s4", offset: 4)))[0].events
            let repeated = try subject.write(
                Samples.grant(Samples.submission("s5", offset: 5), Samples.purchase("1")))[0].events
            try expect(repeated.map(\.repeatOf), ["s5"], "the first copy")
            func told(_ query: DecidedQuery) throws -> [Event] { try subject.ledger.events(query).events.map(\.event) }
            try expect(try told(DecidedQuery(state: .granted)), first, "granted")
            try expect(try told(DecidedQuery(state: .failed)), failed, "failed")
            try expect(try told(DecidedQuery(state: .repeated)), repeated, "repeated")
            try expect(try told(DecidedQuery(state: .held)), [], "held")
        },
        ConformanceRule("Rows for events are narrowed by app, user, submission and time, and read in pages") {
            subject in
            try subject.own()
            for number in 1...4 {
                let submission = Samples.submission(
                    SubmissionID("s\(number)"), user: UserID("u\(number % 2)"),
                    app: number == 4 ? "com.example.other" : Samples.app, offset: Int64(number))
                let at = Int64(number) * 1_000
                try subject.write(Samples.grant(submission, Samples.purchase(TransactionID("\(number)")), at: at))
            }
            func ids(_ query: DecidedQuery) throws -> [String] {
                try subject.ledger.events(query).events.map { $0.event.id.rawValue }
            }
            let all = try ids(DecidedQuery(state: .granted))
            try expect(all.count, 4, "all")
            try expect(try ids(DecidedQuery(state: .granted, bundleID: Samples.app)), Array(all[..<3]), "an app's")
            try expect(try ids(DecidedQuery(state: .granted, userID: "u1")), [all[0], all[2]], "a user's")
            try expect(try ids(DecidedQuery(state: .granted, submissionID: "s4")), [all[3]], "a submission's")
            let range = DecidedQuery(state: .granted, from: Samples.later(2_000), to: Samples.later(4_000))
            try expect(try ids(range), Array(all[1...2]), "of a time, without its end")
            let page = try subject.ledger.events(DecidedQuery(state: .granted, limit: 3))
            let last = page.last ?? 0
            try expect(page.events.count, 3, "a page")
            let rest = try subject.ledger.events(DecidedQuery(state: .granted, places: (last + 1)...(.max), limit: 3))
            try expect(rest.events.map { $0.event.id.rawValue }, [all[3]], "the rest")
            try expect(rest.last, nil, "the end")
            try expect(
                try subject.ledger.span(of: .grants).map { $0.contains(last) && $0.upperBound > last } ?? false, "span")
            try expect(try subject.ledger.span(of: .answers), nil, "the span of an empty table")
            try expect(
                try subject.ledger.firstDecision(in: .grants, (last + 1)...(.max)), Samples.later(4_000), "its time")
            try expect(try subject.ledger.firstDecision(in: .answers, 0...(.max)), nil, "no time")
        },
        ConformanceRule("No event is told again before its fulfilment call") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true))
            let page = try subject.ledger.events(DecidedQuery(state: .granted))
            try expect(page.events, [], "events")
            try expect(page.leftOut, [.callOwed: 1], "left out")
        },
    ]

    // MARK: Import

    private static let importRules: [ConformanceRule] = [
        ConformanceRule("An imported purchase answers its user as a repeat without items, and refuses another's") {
            subject in
            try subject.own()
            let grants = [
                Samples.imported("1", line: 1), Samples.imported("2", .nonConsumable, original: "9", line: 2),
            ]
            try expect(try subject.ledger.add(imported: grants, isTrial: true), [.new, .new], "a trial")
            try expect(try subject.grantRows(), [], "rows after a trial")
            try expect(try subject.ledger.add(imported: grants, isTrial: false), [.new, .new], "results")
            try expect(Set(try subject.grantRows()), Set(grants), "rows")
            try expect(try subject.measure().outboxRows, 0, "owed")
            let restored = Samples.purchase("3", original: "9", product: Samples.gems(.nonConsumable))
            for (id, purchase) in [("s1", Samples.purchase("1")), ("s2", restored)] {
                let claim = Samples.submission(SubmissionID(id), offset: 8)
                let result = try subject.write(Samples.grant(claim, purchase))[0]
                try expect(result.outcome, .repeated, "\(id) again")
                try expect(result.events.map(\.repeatOf), [id], "the mark of a copy")
                let value = String(decoding: result.events.first?.value ?? [], as: UTF8.self)
                try expect(value.contains("\"items\":[]"), "a copy gives nothing")
                try expect(value.contains("\"verifiedBy\":\"import\""), "a copy says where it came from")
                let thief = Samples.submission(SubmissionID("t-\(id)"), user: "thief", offset: 9)
                let stolen = try subject.write(Samples.grant(thief, purchase))[0]
                try expect(stolen.outcome, .failed(reason: "owned_by_another_user"), "another user")
                let failure = String(decoding: stolen.events.first?.value ?? [], as: UTF8.self)
                try expect(failure.contains("imported") && !failure.contains("read first"), "how it became theirs")
            }
        },
        ConformanceRule("What is imported again is there, another user's or app's purchase is said") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            let grants = [
                Samples.imported("1", line: 1), Samples.imported("1", user: "thief", line: 2),
                Samples.imported("1", app: "com.example.other", line: 3), Samples.imported("2", line: 4),
                Samples.imported("2", line: 5), Samples.imported("2", user: "thief", line: 6),
            ]
            let results: [ImportResult] = [.present, .taken, .taken, .new, .present, .taken]
            try expect(try subject.ledger.add(imported: grants, isTrial: false), results, "results")
            try expect(
                try subject.ledger.add(imported: grants, isTrial: true),
                [.present, .taken, .taken, .present, .present, .taken], "a trial behind it")
            try expect(try subject.grantRows().count, 2, "rows")
            try expect(try subject.ledger.add(imported: [], isTrial: false), [], "nothing")
        },
        ConformanceRule("Of lines with one key the first one has it, whatever their transactions are") { subject in
            let grants = [
                Samples.imported("3", .nonConsumable, original: "1", line: 1),
                Samples.imported("2", .nonConsumable, original: "1", user: "thief", line: 2),
                Samples.imported("1", .nonConsumable, original: "1", line: 3),
            ]
            try expect(
                try subject.ledger.add(imported: grants, isTrial: false), [.new, .taken, .presentUnderAnother],
                "results")
            try expect(try subject.grantRows(), [grants[0]], "rows")
        },
        ConformanceRule("Of lines with one transaction the first one has it, whatever their keys are") { subject in
            let grants = [
                Samples.imported("5", .nonConsumable, original: "9", line: 1),
                Samples.imported("5", .nonConsumable, original: "1", user: "thief", line: 2),
            ]
            try expect(try subject.ledger.add(imported: grants, isTrial: false), [.new, .taken], "results")
            try expect(try subject.grantRows(), [grants[0]], "rows")
        },
        ConformanceRule("A line whose transaction stands above under a taken key is imported all the same") { subject in
            _ = try subject.ledger.add(
                imported: [Samples.imported("7", .nonConsumable, original: "9", line: 1)], isTrial: false)
            let grants = [
                Samples.imported("5", .nonConsumable, original: "9", user: "thief", line: 1),
                Samples.imported("5", .nonConsumable, original: "1", line: 2),
            ]
            try expect(try subject.ledger.add(imported: grants, isTrial: false), [.taken, .new], "results")
        },
        ConformanceRule("Imported rows are told by nobody, and stop no worker") { subject in
            _ = try subject.ledger.add(imported: [Samples.imported("1", line: 1)], isTrial: false)
            try expect(try subject.ledger.events(DecidedQuery(state: .granted)).events, [], "events")
            try expect(try subject.ledger.firstDecision(in: .grants, 0...(.max)), nil, "their times")
            try expect(try subject.ledger.partitions(), [], "partitions")
            guard case .taken? = try subject.own() else { throw Violation(description: "no partition is taken") }
            let note = OperatorNote(actor: "kim", reason: "moved", at: Samples.noon)
            _ = try subject.ledger.bind(to: Samples.group)
            let elsewhere = ConsumerGroup(name: "grantor", cluster: "cluster-2") { $0.defaultName }
            _ = try subject.ledger.accept(ledger: subject.ledger.identity(), for: elsewhere, [:], note)
            try expect(try subject.ledger.partitions().map(\.partition), [Samples.partition], "after a move")
        },
    ]

    // MARK: Retention

    private static let pruneRules: [ConformanceRule] = [
        ConformanceRule("Answers before a moment go, grants stay, and what is owed stays") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            let old = try subject.write(Samples.fail(Samples.submission("s2", offset: 2)))[0]
            try subject.write(Samples.grant(Samples.submission("s3", offset: 3), Samples.purchase("1"), at: 1))
            try subject.write(Samples.fail(Samples.submission("s4", offset: 4), at: 2))
            try subject.write(Samples.fail(Samples.submission("s5", offset: 5), at: 1))
            let key = OutboxKey.failed(Samples.key("s5"))
            _ = try subject.ledger.owe([OutboxEntry(ownership: Samples.ownership(), key: key, delay: 0, stub: nil)])
            func prune(_ places: ClosedRange<Int64> = 0...(.max), isTrial: Bool = false) throws -> Int {
                try subject.ledger.prune(places, before: Samples.later(2), isTrial: isTrial)
            }
            try expect(try prune(isTrial: true), 2, "a trial")
            let last = try subject.ledger.span(of: .answers)?.upperBound ?? 0
            try expect(try prune((last + 1)...(.max)), 0, "places without rows")
            try expect(try prune(), 2, "deleted")
            try expect(try prune(), 0, "again")
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .failed)).count, 2, "failures left")
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .repeated)).count, 0, "repeats left")
            try expect(try subject.grantRows().count, 1, "grants")
            try expect(try subject.drain().count, 1, "what is owed")
            let again = try subject.write(Samples.fail(Samples.submission("s2", offset: 2), at: 60_000))[0]
            try expect(again.outcome, .failed(reason: "receipt_not_authentic"), "a redelivery of a pruned failure")
            try expect(again.events.map(\.id), old.events.map(\.id), "its event's id")
            let repeated = try subject.write(
                Samples.grant(Samples.submission("s3", offset: 3), Samples.purchase("1"), at: 60_000))[0]
            try expect(repeated.outcome, .repeated, "a redelivery of a pruned repeat")
            try expect(try subject.grantRows().count, 1, "grants after redeliveries")
        },
        ConformanceRule("The event of a failure that is gone is not owed: its record is decided again") { subject in
            try subject.own()
            try subject.write(Samples.fail(Samples.submission("s1", offset: 1)))
            _ = try subject.ledger.prune(0...(.max), before: Samples.later(1), isTrial: false)
            let key = OutboxKey.failed(Samples.key("s1"))
            let owed = try subject.ledger.owe([
                OutboxEntry(ownership: Samples.ownership(), key: key, delay: 0, stub: nil)
            ])
            try expect(owed, [false], "owed")
            try expect(try subject.drain(), [], "events")
            try expect(try subject.measure().outboxRows, 0, "rows")
        },
    ]

    // MARK: Erasure

    private static let note = OperatorNote(actor: "kim", reason: "asked by mail", at: Samples.noon)

    private static let erasureRules: [ConformanceRule] = [
        ConformanceRule("An erased user's ids are gone, and nothing can be granted again") { subject in
            try subject.own()
            let mine = Samples.submission("s1", order: "o1", offset: 1, traceparent: "00-1")
            try subject.write(Samples.grant(mine, Samples.purchase("1"), Samples.purchase("2")))
            try subject.write(Samples.fail(Samples.submission("s2", order: "o2", offset: 2)))
            try subject.write(Samples.wait(Samples.submission("s3", offset: 3), delay: 0))
            _ = try subject.ledger.retryNow(SubmissionKey(bundleID: Samples.app, submissionID: "s3"), note)
            try subject.write(
                Samples.grant(
                    Samples.submission("s3", offset: 3), Samples.purchase("1"), lease: subject.takeOne().lease))
            _ = try subject.drain()
            try subject.write(Samples.grant(Samples.submission("b1", user: "b", offset: 9), Samples.purchase("9")))
            try subject.pass(to: 10)
            let erasure = Samples.erasure("player-1")
            let rows = ErasureResult.Rows(grants: 2, answers: 2, actions: 1, isComplete: true)
            try expect(try subject.ledger.erase(erasure, nil), .done(rows), "a trial")
            try expect(try subject.ledger.grants(GrantQuery(userID: "player-1")).count, 2, "grants after a trial")
            try expect(try subject.ledger.erase(erasure, note), .done(rows), "done")
            for word in ["player-1", "s1", "s2", "s3", "o1", "o2"] {
                try expect(try subject.ledger.find(word, limit: 9).hits.count, 0, word)
            }
            let actions = try subject.ledger.actions(on: nil)
            try expect(actions.map(\.kind), [.erase], "the action")
            try expect(
                actions.map(\.note.reason), ["\(erasure.pseudonyms.of("player-1" as UserID)): asked by mail"],
                "its note")
            let former = SubmissionKey(bundleID: Samples.app, submissionID: "s3")
            try expect(try subject.ledger.actions(on: former), [], "actions by the former id")
            let renamed = SubmissionKey(bundleID: Samples.app, submissionID: erasure.pseudonyms.of(former.submissionID))
            try expect(try subject.ledger.actions(on: renamed).map(\.note.reason), ["erased"], "actions by the new one")
            let grants = try subject.grantRows().filter(\.isErased)
            try expect(Set(grants.map(\.transactionID)), ["1", "2"], "keys stay")
            try expect(Set(grants.map(\.submissionID)).count, 1, "one submission stays one")
            try expect(grants.map(\.claimant.traceparent), [nil, nil], "traces")
            try expect(try subject.grantRows().count { $0.userID == "b" }, 1, "another user")
            let page = try subject.ledger.events(DecidedQuery(state: .granted))
            try expect(page.leftOut, [.erased: 2], "events that are not told again")
            let redelivered = try subject.write(Samples.grant(mine, Samples.purchase("1"), Samples.purchase("2")))[0]
            try expect(redelivered.outcome, .failed(reason: "owned_by_another_user"), "the record again")
            let claimed = try subject.write(
                Samples.grant(Samples.submission("s9", offset: 10), Samples.purchase("1")))[0]
            try expect(claimed.outcome, .failed(reason: "owned_by_another_user"), "a new claim")
            try expect(try subject.grantRows().count, 3, "grants in all")
        },
        ConformanceRule("Nobody is erased while something waits or is owed, and one app is left to another") {
            subject in
            try subject.own()
            try subject.pass(to: 3)
            let erasure = Samples.erasure("player-1")
            func inTheWay(waiting: Int, owed: Int) -> ErasureResult {
                .inTheWay(waiting: waiting, owed: owed, unpassed: 0)
            }
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            try subject.write(Samples.wait(Samples.submission("s2", offset: 2), delay: 0))
            try expect(try subject.ledger.erase(erasure, note), inTheWay(waiting: 1, owed: 0), "while one waits")
            try subject.write(Samples.fail(Samples.submission("s2", offset: 2), lease: subject.takeOne().lease))
            try expect(try subject.ledger.erase(erasure, note), inTheWay(waiting: 0, owed: 1), "while one is owed")
            _ = try subject.drain()
            let copy = OutboxKey.granted(Samples.reference("1"), repeatOf: "s1")
            _ = try subject.ledger.owe([
                OutboxEntry(ownership: Samples.ownership(), key: copy, delay: 0, stub: nil)
            ])
            try expect(try subject.ledger.erase(erasure, note), inTheWay(waiting: 0, owed: 1), "while a copy is owed")
            _ = try subject.drain()
            let elsewhere = Erasure(
                userID: "player-1", bundleID: "com.example.other", pseudonyms: erasure.pseudonyms)
            let none = ErasureResult.Rows(grants: 0, answers: 0, actions: 0, isComplete: true)
            try expect(try subject.ledger.erase(elsewhere, note), .done(none), "in another app")
            try expect(try subject.ledger.actions(on: nil), [], "nothing was done")
            try expect(try subject.ledger.grants(GrantQuery(userID: "player-1")).count, 1, "grants")
        },
        ConformanceRule("Nobody is erased before the user's records are passed: their offsets owe the events") {
            subject in
            try subject.own()
            let erasure = Samples.erasure("player-1")
            try subject.write(Samples.grant(Samples.submission("s4", offset: 4), Samples.purchase("4")))
            try subject.write(Samples.grant(Samples.submission("s5", offset: 5), Samples.purchase("5")))
            try subject.write(Samples.fail(Samples.submission("s6", offset: 6)))
            func unpassed(_ count: Int) -> ErasureResult { .inTheWay(waiting: 0, owed: 0, unpassed: count) }
            try expect(try subject.ledger.erase(erasure, nil), unpassed(3), "a trial without a checkpoint")
            try expect(try subject.ledger.erase(erasure, note), unpassed(3), "without a checkpoint")
            try subject.pass(to: 5)
            try expect(try subject.ledger.erase(erasure, note), unpassed(2), "before the second")
            try subject.pass(to: 6)
            try expect(try subject.ledger.erase(erasure, note), unpassed(1), "before the failure")
            try expect(try subject.ledger.grants(GrantQuery(userID: "player-1")).count, 2, "grants")
            try subject.pass(to: 7)
            let rows = ErasureResult.Rows(grants: 2, answers: 1, actions: 0, isComplete: true)
            try expect(try subject.ledger.erase(erasure, note), .done(rows), "behind them")
        },
        ConformanceRule("An erasure may take rows whose records are never passed, and no event has a pseudonym") {
            subject in
            try subject.own()
            let known = Samples.erasure("player-1")
            let erasure = Erasure(
                userID: known.userID, bundleID: nil, pseudonyms: known.pseudonyms, takesUnpassed: true)
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            let rows = ErasureResult.Rows(grants: 1, answers: 0, actions: 0, isComplete: true)
            try expect(try subject.ledger.erase(erasure, note), .done(rows), "done")
            let keys = OutboxKey.telling(of: Samples.reference("1"), to: "s1")
            _ = try subject.ledger.owe(
                keys.map { OutboxEntry(ownership: Samples.ownership(), key: $0, delay: 0, stub: nil) })
            try expect(try subject.drain(), [], "events")
            try expect(try subject.measure().outboxRows, 0, "rows that are owed")
        },
        ConformanceRule("A user whose id looks like a pseudonym is told as any other") { subject in
            try subject.own()
            let user = Samples.erasure("player-1").pseudonyms.of("player-1" as UserID)
            try subject.write(Samples.grant(Samples.submission("s1", user: user, offset: 1), Samples.purchase("1")))
            _ = try subject.ledger.owe([
                OutboxEntry(
                    ownership: Samples.ownership(), key: .granted(Samples.reference("1"), repeatOf: nil), delay: 0,
                    stub: nil)
            ])
            try expect(try subject.drain().count, 1, "events")
        },
        ConformanceRule("No repeat stays beside an erased grant, however many there are") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s0", offset: 0), Samples.purchase("1")))
            let repeats = (1...Int64(Erasure.most + 1)).map { number in
                Samples.grant(Samples.submission(SubmissionID("r\(number)"), offset: number), Samples.purchase("1"))
            }
            for batch in stride(from: 0, to: repeats.count, by: 100) {
                _ = try subject.ledger.write(Array(repeats[batch..<min(batch + 100, repeats.count)]))
            }
            try subject.pass(to: 1_000)
            let erasure = Samples.erasure("player-1")
            let most = Erasure.most
            let first = ErasureResult.Rows(grants: 0, answers: most, actions: 0, isComplete: false)
            try expect(try subject.ledger.erase(erasure, note), .done(first), "the first call")
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .repeated)).count, 1, "a repeat")
            try expect(try subject.grantRows().map(\.userID), ["player-1"], "beside its grant")
            let rest = ErasureResult.Rows(grants: 1, answers: 1, actions: 0, isComplete: true)
            try expect(try subject.ledger.erase(erasure, note), .done(rest), "the second one")
        },
        ConformanceRule("Actions on a pruned answer's submission would keep its id: such answers stay for an erasure") {
            subject in
            try subject.own()
            let key = SubmissionKey(bundleID: Samples.app, submissionID: "s1")
            try subject.write(Samples.wait(Samples.submission("s1", offset: 1), delay: 0))
            _ = try subject.ledger.retryNow(key, note)
            try subject.write(Samples.fail(Samples.submission("s1", offset: 1), lease: subject.takeOne().lease))
            try subject.write(Samples.fail(Samples.submission("s1", app: "com.example.other", offset: 2)))
            _ = try subject.drain()
            try expect(
                try subject.ledger.prune(0...(.max), before: Samples.later(60_000), isTrial: true), 1, "a trial")
            try expect(
                try subject.ledger.prune(0...(.max), before: Samples.later(60_000), isTrial: false), 1, "pruned")
            try subject.pass(to: 3)
            let rows = ErasureResult.Rows(grants: 0, answers: 1, actions: 1, isComplete: true)
            try expect(try subject.ledger.erase(Samples.erasure("player-1"), note), .done(rows), "erased")
            try expect(try subject.ledger.actions(on: key), [], "actions with its id")
        },
        ConformanceRule("An erasure's action has the moment of its rows, however long ago its command began") {
            subject in
            try subject.own()
            subject.setClock(Samples.later(1_000))
            try subject.write(Samples.fail(Samples.submission("s1", offset: 1), at: 1_000))
            try subject.pass(to: 2)
            _ = try subject.ledger.erase(Samples.erasure("player-1"), note)
            try expect(try subject.ledger.actions(on: nil).map(\.note.at), [Samples.later(1_000)], "its moment")
        },
    ]
}

extension Samples {
    static func imported(
        _ transaction: TransactionID, _ type: ProductType = .consumable, original: TransactionID? = nil,
        user: UserID = "player-1", app: BundleID = app, line: Int
    ) -> Grant {
        let purchase = purchase(transaction, original: original, product: gems(type)).purchase
        return Grant(
            imported: purchase, type: type,
            to: Claimant(
                submissionID: SubmissionID("import:production:\(transaction)"), userID: user, bundleID: app,
                orderID: nil, traceparent: nil), grantedAt: later(-86_400_000), line: line, of: "former.jsonl")
    }

    /// A row of the first player's, and the player's erasure.
    public static let importedRow = imported("1", line: 1)
    public static let playersErasure = erasure("player-1")

    static func erasure(_ user: UserID) -> Erasure {
        guard let pseudonyms = Pseudonyms(key: Array(repeating: 7, count: 32)) else {
            preconditionFailure("a sample's key is too short")
        }
        return Erasure(userID: user, bundleID: nil, pseudonyms: pseudonyms)
    }
}
