import Contract
import Ledger

extension LedgerConformance {
    static let readerRules: [ConformanceRule] = [
        ConformanceRule("Lists go from the newest on, page by page, and by filters") { subject in
            try subject.own()
            for number in 1...5 {
                let user: UserID = number == 3 ? "other" : "player-1"
                let submission = Samples.submission(
                    SubmissionID("s\(number)"), user: user, order: OrderID("o\(number)"), offset: Int64(number))
                try subject.write(Samples.grant(submission, Samples.purchase(TransactionID("\(number)"))))
                try subject.write(
                    Samples.fail(Samples.submission(SubmissionID("f\(number)"), user: user, offset: Int64(10 + number)))
                )
                try subject.write(
                    Samples.wait(Samples.submission(SubmissionID("w\(number)"), user: user, offset: Int64(20 + number)))
                )
            }
            for (state, prefix) in [(SubmissionState.granted, "s"), (.failed, "f"), (.retrying, "w")] {
                var query = SubmissionQuery(state: state, limit: 2)
                let first = try subject.ledger.submissions(query)
                try expect(first.map(\.claimant.submissionID.rawValue), ["\(prefix)5", "\(prefix)4"], state.rawValue)
                query.before = first.last?.sequence
                query.userID = "player-1"
                try expect(
                    try subject.ledger.submissions(query).map(\.claimant.submissionID.rawValue),
                    ["\(prefix)2", "\(prefix)1"], "the next page of one user")
                query.bundleID = "com.example.other"
                try expect(try subject.ledger.submissions(query).count, 0, "another app")
            }
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .held)).count, 0, "held")
            let causes = [("unreachable", 5), ("no_answer", 0)].map { cause, _ in
                SubmissionQuery(state: .retrying, cause: cause)
            }
            try expect(try causes.map { try subject.ledger.submissions($0).count }, [5, 0], "causes")
            try subject.write(
                Samples.wait(
                    Samples.submission("w6", offset: 26),
                    endpoint: Endpoint(.serverAPI, .production, key: Samples.app.rawValue)))
            let endpoints = [
                Endpoint(.verifyReceipt, .production), Endpoint(.serverAPI, .production),
                Endpoint(.serverAPI, .sandbox),
            ]
            for (state, counts) in [(SubmissionState.retrying, [5, 1, 0]), (.held, [0, 0, 0]), (.failed, [0, 0, 0])] {
                let queries = endpoints.map { SubmissionQuery(state: state, endpoint: $0) }
                try expect(
                    try subject.ledger.submissions(queries).map(\.count), counts,
                    "\(state) ones of an endpoint, whatever its key")
            }
            func grants(_ query: GrantQuery) throws -> [String] {
                try subject.ledger.grants(query).map(\.grant.transactionID.rawValue)
            }
            try expect(try grants(GrantQuery(userID: "other")), ["3"], "by user")
            try expect(try grants(GrantQuery(orderID: "o2")), ["2"], "by order")
            try expect(try grants(GrantQuery(transactionID: "4")), ["4"], "by transaction")
            try expect(try grants(GrantQuery(submissionID: "s1")), ["1"], "by submission")
            try expect(try grants(GrantQuery(userID: "player-1", limit: 2)), ["5", "4"], "a page")
        },
        ConformanceRule("Rows that no index finds are looked for from place to place, and none is missed") { subject in
            try subject.own()
            for number in 1...6 {
                let app: BundleID = number % 3 == 0 ? "com.example.other" : Samples.app
                let submission = Samples.submission(SubmissionID("s\(number)"), app: app, offset: Int64(number))
                try subject.write(Samples.grant(submission, Samples.purchase(TransactionID("\(number)"))))
                try subject.write(
                    Samples.decision(
                        Samples.submission(SubmissionID("r\(number)"), app: app, offset: Int64(10 + number)),
                        .repeated(Samples.reference(TransactionID("\(number)")))))
            }
            func ids(_ rows: [SubmissionRow]) -> [String] { rows.map(\.claimant.submissionID.rawValue) }
            for (state, prefix) in [(SubmissionState.granted, "s"), (.repeated, "r")] {
                var query = SubmissionQuery(state: state, bundleID: "com.example.other", limit: 1)
                let first = try subject.ledger.part(of: query)
                try expect(ids(first.rows), ["\(prefix)6"], "\(state), the first page")
                query.before = first.rows.last?.sequence
                query.limit = 9
                let second = try subject.ledger.part(of: query)
                try expect(ids(second.rows), ["\(prefix)3"], "\(state), the second page")
                try expect(second.rest, nil, "\(state), the rest")
                query.before = nil
                query.from = first.rows.last?.sequence
                try expect(ids(try subject.ledger.submissions(query)), ["\(prefix)6"], "\(state), from a place on")
                query.bundleID = "com.example.gmae"
                try expect(ids(try subject.ledger.part(of: query).rows), [], "\(state), an unknown app")
            }
            let grants = try subject.ledger.part(of: GrantQuery(bundleID: "com.example.other"))
            try expect(grants.rows.map(\.grant.transactionID), ["6", "3"], "grants")
            var above = GrantQuery(bundleID: "com.example.other")
            above.from = grants.rows.first?.sequence
            try expect(try subject.ledger.grants(above).map(\.grant.transactionID), ["6"], "grants from a place on")
        },
        ConformanceRule("An app has grants, or submissions that wait alone") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            try subject.write(Samples.wait(Samples.submission("s2", app: "com.example.new", offset: 2)))
            try expect(try subject.ledger.hasGrants(of: Samples.app), "an app with a grant")
            try expect(try !subject.ledger.hasGrants(of: "com.example.new"), "an app with a submission that waits")
            try expect(try !subject.ledger.hasGrants(of: "com.example.gmae"), "an app that is misspelt")
        },
        ConformanceRule("A restored purchase is found by its original") { subject in
            try subject.own()
            let durable = Samples.gems(.nonConsumable)
            try subject.write(
                Samples.grant(Samples.submission("s1"), Samples.purchase("12", original: "11", product: durable)))
            try expect(
                try subject.ledger.grants(GrantQuery(transactionID: "11")).map(\.grant.transactionID), ["12"], "grants")
        },
        ConformanceRule("Several submissions have a record each, in their order") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1"), Samples.purchase("1"), owesCall: true),
                Samples.fail(Samples.submission("s2", offset: 8)), Samples.wait(Samples.submission("s3", offset: 9)))
            let keys = ["s3", "unknown", "s1", "s2", "s1"].map {
                SubmissionKey(bundleID: Samples.app, submissionID: SubmissionID($0))
            }
            let records = try subject.ledger.records(of: keys)
            try expect(records, try keys.map { try subject.ledger.submission($0) }, "records")
            try expect(records.map(\.isKnown), [true, false, true, true, true], "known")
            try expect(try subject.ledger.records(of: []), [], "none")
        },
        ConformanceRule("A submission's record has all that is owed for it") { subject in
            try subject.own()
            let key = SubmissionKey(bundleID: Samples.app, submissionID: "s1")
            try expect(
                try subject.ledger.submission(key),
                SubmissionRecord(grants: [], answer: nil, waiting: [], owed: [], later: 0), "an unknown one")
            try subject.write(
                Samples.grant(Samples.submission("s1"), Samples.purchase("1"), Samples.purchase("2"), owesCall: true))
            let record = try subject.ledger.submission(key)
            try expect(record.grants.map(\.grant.transactionID), ["1", "2"], "grants")
            try expect(record.owed.map(\.target), [.service(Samples.app), .service(Samples.app)], "owed")
            try expect(record.owed.map(\.dueAt), [Samples.noon, Samples.noon], "due")
        },
    ]
}
