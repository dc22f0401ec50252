import Contract
import Ledger
import MemberTesting

extension LedgerConformance {
    static let searchRules: [ConformanceRule] = [
        ConformanceRule("A word is found as whatever it is the id of, in all apps and states") { subject in
            try subject.writeEachState()
            func found(_ word: String) throws -> [String] {
                try subject.ledger.find(word, limit: 100).hits
                    .map { hit in "\(hit.row.claimant.submissionID) \(hit.meanings.map(\.rawValue))" }.sorted()
            }
            try expect(try found("failed"), ["failed [\"submission\"]"], "a submission")
            let granted = "granted [\"submission\"]"
            try expect(try found("granted"), [granted, granted], "each purchase of a submission")
            try expect(
                try found("player-1"),
                ["failed", "granted", "granted", "held", "repeated", "waits"].map { "\($0) [\"user\"]" }, "a user")
            for order in ["failed", "held", "waits"] {
                try expect(try found("o-\(order)"), ["\(order) [\"order\"]"], "an order")
            }
            try expect(
                try found("o-granted"), ["granted [\"order\"]", "granted [\"order\"]", "repeated [\"order\"]"],
                "a grant's order")
            try expect(
                try found("11"), ["granted [\"transaction\"]", "repeated [\"transaction\"]"], "a transaction")
            try expect(try found("13"), ["granted [\"original_transaction\"]"], "an original transaction")
            try expect(try found("21"), ["waits [\"transaction\"]"], "a claimed transaction")
            try expect(try found("0021"), ["waits [\"transaction\"]"], "with zeros in front")
            try expect(try found("both"), ["both [\"submission\", \"user\"]"], "as both, in another app")
            for word in ["nobody", "granted ", "GRANTED", "", "99", String(repeating: "9", count: 600)] {
                try expect(try found(word), [], word)
            }
        },
        ConformanceRule("No more are found than the limit, the latest of them, and more are said to exist") { subject in
            try subject.own()
            for number in 1...4 {
                let submission = Samples.submission(SubmissionID("f\(number)"), offset: Int64(number))
                try subject.write(Samples.fail(submission, at: Int64(number)))
            }
            let result = try subject.ledger.find("player-1", limit: 3)
            try expect(result.hits.map(\.row.claimant.submissionID), ["f4", "f3", "f2"], "hits")
            try expect(result.hasMore, "more are said to exist")
            try expect(try !subject.ledger.find("player-1", limit: 4).hasMore, "no more are said to exist")
        },
        ConformanceRule("A submission that waits is found before all later ones that are decided") { subject in
            try subject.own()
            try subject.write(Samples.wait(Samples.submission("old", offset: 1)))
            for number in 2...5 {
                let submission = Samples.submission(SubmissionID("f\(number)"), offset: Int64(number))
                try subject.write(Samples.fail(submission, at: Int64(number)))
            }
            let result = try subject.ledger.find("player-1", limit: 2)
            try expect(result.hits.map(\.row.claimant.submissionID), ["old", "f5"], "hits")
        },
        ConformanceRule("A look says how far workers are, also where it finds nothing") { subject in
            try subject.own()
            let partitions = try subject.ledger.partitions()
            try expect(!partitions.isEmpty, "partitions")
            let key = SubmissionKey(bundleID: Samples.app, submissionID: "nobody")
            for (keys, words) in [([], []), ([key], []), ([key], [Search("nobody", limit: 1)])]
                as [([SubmissionKey], [Search])]
            {
                try expect(try subject.ledger.look(at: keys, for: words).partitions, partitions, "\(keys) \(words)")
            }
        },
        ConformanceRule("What is owed stands beside each hit, of its own environment and submission") { subject in
            try subject.own()
            try subject.write(
                Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1"), owesCall: true))
            try subject.write(Samples.grant(Samples.submission("s2", offset: 2), Samples.purchase("2")))
            try subject.write(Samples.fail(Samples.submission("s3", offset: 3)))
            try subject.write(Samples.wait(Samples.submission("s4", offset: 4)))
            try subject.write(
                Samples.decision(Samples.submission("s5", offset: 5), .repeated(Samples.reference("2"))))
            func owed() throws -> [SubmissionID: [OutboxStep]] {
                Dictionary(
                    try subject.ledger.find("player-1", limit: 9).hits.map {
                        ($0.row.claimant.submissionID, $0.owed.map(\.step))
                    }
                ) { $0 + $1 }
            }
            let none: [SubmissionID: [OutboxStep]] = ["s1": [.call], "s2": [], "s3": [], "s4": [], "s5": []]
            try expect(try owed(), none, "a call alone")
            let fourth = SubmissionKey(bundleID: Samples.app, submissionID: "s4")
            let waiting = try subject.ledger.submission(fourth).waiting
            let keys: [OutboxKey] =
                [.failed(Samples.key("s3")), .granted(Samples.reference("2"), repeatOf: "s5")]
                + waiting.map { .pending($0.key) }
            _ = try subject.ledger.owe(
                keys.map { OutboxEntry(ownership: Samples.ownership(), key: $0, delay: 0, stub: nil) })
            try expect(
                try owed(), ["s1": [.call], "s2": [], "s3": [.publish], "s4": [.publish], "s5": [.publish]], "all")
            try expect(try subject.ledger.owed([]), [], "no key")
        },
        ConformanceRule("A hit has the environment of its grant, of the grant that answers it, or of its claim") {
            subject in
            try subject.own()
            let test = Samples.purchase("1", environment: .sandbox)
            try subject.write(Samples.grant(Samples.submission("e1", offset: 1), test))
            let answering = GrantReference(environment: .sandbox, transactionID: "1")
            try subject.write(Samples.decision(Samples.submission("e2", offset: 2), .repeated(answering)))
            try subject.write(Samples.fail(Samples.submission("e3", offset: 3)))
            let claimed = FullSamples.submission(FullSamples.evidence[0])
            try subject.write(Samples.wait(claimed))
            try subject.write(Samples.wait(Samples.submission("e4", offset: 4)))
            func found(_ id: SubmissionID) throws -> [Environment?] {
                try subject.ledger.find(id.rawValue, limit: 9).hits.map(\.row.environment)
            }
            try expect(try found("e1"), [.sandbox], "a grant")
            try expect(try found("e2"), [.sandbox], "a repeat")
            try expect(try found("e3"), [nil], "a failure")
            try expect(try found(claimed.id), [claimed.claim.environment], "a claim")
            try expect(try found("e4"), [nil], "a claim without it")
        },
        ConformanceRule("A hit that waits says whether Apple has signed it") { subject in
            try subject.own()
            try subject.write(Samples.wait(Samples.submission("signed", offset: 1), isSigned: true))
            try subject.write(Samples.wait(Samples.submission("unsigned", offset: 2)))
            for id in ["signed", "unsigned"] {
                try expect(try subject.ledger.find(id, limit: 9).hits.map(\.row.isSigned), [id == "signed"], id)
            }
        },
        ConformanceRule("Lists narrow each state by submission, order and transaction") { subject in
            try subject.writeEachState()
            let transactions: [(SubmissionState, String, TransactionID)] = [
                (.granted, "granted", "11"), (.repeated, "repeated", "11"), (.failed, "failed", "31"),
                (.retrying, "waits", "21"), (.held, "held", "41"),
            ]
            for (state, id, transaction) in transactions {
                let query = SubmissionQuery(state: state, submissionID: SubmissionID(id))
                let rows = try subject.ledger.submissions(query)
                try expect(Set(rows.map(\.claimant.submissionID)), [SubmissionID(id)], "\(state) by its submission")
                try expect(Set(rows.map(\.state)), [state], "the state of \(id)")
                let order = OrderID(state == .repeated ? "o-granted" : "o-\(id)")
                try expect(
                    try subject.ledger.submissions(SubmissionQuery(state: state, orderID: order)), rows,
                    "\(state) by its order")
                let found = try subject.ledger.submissions(SubmissionQuery(state: state, transactionID: transaction))
                try expect(found.map(\.transactionID), [transaction], "\(state) by its transaction")
                try expect(
                    try subject.ledger.submissions(
                        SubmissionQuery(state: state, userID: "player-1", orderID: "other")), [], "\(state), both")
            }
            try expect(
                try subject.ledger.submissions(SubmissionQuery(state: .granted, cause: "no_answer")), [],
                "grants have no cause")
        },
        ConformanceRule("Several lists are as of one moment, in the order of their queries") { subject in
            try subject.writeEachState()
            let queries = SubmissionState.allCases.map { SubmissionQuery(state: $0) }
            try expect(try subject.ledger.submissions(queries).map(\.count), [1, 1, 2, 1, 2], "rows of each")
            try expect(try subject.ledger.submissions([]), [], "no query")
        },
    ]
}

extension ConformanceSubject {
    /// A submission in each state with an order of its own name, of one user; a repeat has the grant's, or it would
    /// fail. And a submission of another app whose user has the same name.
    fileprivate func writeEachState() throws {
        try own()
        func submission(
            _ id: SubmissionID, offset: Int64, transaction: TransactionID? = nil, user: UserID = "player-1",
            app: BundleID = Samples.app, order: OrderID? = nil
        ) -> Submission {
            Samples.submission(
                id, user: user, app: app, order: order ?? OrderID("o-\(id)"), offset: offset,
                receipt: "cmVjZWlwdA==\(offset)", transaction: transaction)
        }
        let durable = Samples.gems(.nonConsumable)
        try write(
            Samples.grant(
                submission("granted", offset: 1), Samples.purchase("11"),
                Samples.purchase("12", original: "13", product: durable)))
        try write(
            Samples.decision(
                submission("repeated", offset: 2, order: "o-granted"), .repeated(Samples.reference("11")), at: 1))
        try write(
            Samples.decision(
                submission("failed", offset: 3),
                .fail(Rejection(.receiptNotAuthentic, "Said so.", transactionID: "31"))))
        try write(Samples.wait(submission("waits", offset: 4, transaction: "21")))
        try write(
            Samples.decision(
                submission("held", offset: 5, transaction: "41"),
                .wait(
                    RetryEntry(
                        cause: .held(.appNotConfigured), detail: "No such app.", delay: 0, history: AttemptHistory(),
                        doubt: nil, isSigned: false, purchases: []))))
        try write(Samples.fail(submission("both", offset: 6, user: "both", app: "com.example.other")))
    }
}
