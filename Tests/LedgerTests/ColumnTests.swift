import Contract
import Cryptography
import Ledger
import MemberTesting
import Testing

@Suite struct ColumnTests {
    private static func key(_ app: BundleID, _ submission: SubmissionID) -> SubmissionKey {
        SubmissionKey(bundleID: app, submissionID: submission)
    }

    static let keys: [OutboxKey] = [
        .granted(GrantReference(environment: .sandbox, transactionID: "20"), repeatOf: nil),
        .granted(GrantReference(environment: .production, transactionID: "20"), repeatOf: "a:b"),
        .granted(GrantReference(environment: .production, transactionID: "20"), repeatOf: ""),
        .failed(key("com.example:game", "s:1")), .failed(key("", "s1")), .failed(key("日本", "s")),
        .quarantined(Origin(topic: "receipts:submitted", partition: 3, offset: 77), SHA256.hash("a".utf8)),
        .quarantined(Origin(topic: "receipts:submitted", partition: 3, offset: 77), SHA256.hash("b".utf8)),
    ]

    @Test("A key's text is the key again", arguments: keys)
    func outboxKeys(key: OutboxKey) {
        #expect(OutboxKey(text: key.text) == key)
    }

    @Test("No two keys have one text")
    func distinct() {
        #expect(Set(Self.keys.map(\.text)).count == Self.keys.count)
        #expect(OutboxKey.failed(Self.key("a", "b:c")).text != OutboxKey.failed(Self.key("a:b", "c")).text)
    }

    @Test(
        "A text of another form is no key",
        arguments: [
            "", "granted", "granted:elsewhere:1", "failed:9:a:b", "failed:x:a:b", "quarantined:1:x:t",
            "quarantined:1:2:t",
            "quarantined:1:2:00ff:t",
            "quarantined:1:2:\(String(repeating: "g", count: 64)):t", "later:1",
        ])
    func noKey(text: String) {
        #expect(OutboxKey(text: text) == nil)
    }

    @Test("A target's text is the target again")
    func targets() {
        let targets = Topic.allCases.map { OutboxTarget.topic($0) } + [.service("com.example.game")]
        for target in targets { #expect(OutboxTarget(text: target.text) == target) }
        #expect(OutboxTarget(text: "topic:later") == nil)
    }

    @Test("A product's items survive their column, whatever their names are")
    func items() {
        for items in [
            [], [Item(item: "gems", quantity: 1)], [Item(item: "a:1,b", quantity: 2), Item(item: "", quantity: .max)],
        ] {
            let product = StoredProduct(
                bundleID: "com.example.game", product: Product(id: "p", type: .consumable, items: items))
            #expect(StoredProduct.items(text: product.itemsText) == items)
        }
        for text in ["1", "1:9:gems", "x:4:gems", "1:4:gems1:4:gems", "1:-1:gems"] {
            #expect(StoredProduct.items(text: text) == nil, "\(text)")
        }
    }

    @Test("What was passed over survives its column")
    func passedOver() throws {
        let entries = (0..<12).map { number in
            PassedOver.Entry(
                TransactionID("\(number)"), ProductID("product \(number % 3)"),
                PassedOver.Reason.allCases[number % PassedOver.Reason.allCases.count])
        }
        let passedOver = try #require(PassedOver(entries))
        #expect(PassedOver(text: passedOver.text) == passedOver)
        let later = PassedOver(text: "of_a_later_version 3\nof_a_later_version 1 p\nsubscription_expired 2\nno\n")
        #expect(later.counts == [.subscriptionExpired: 2] && later.named.isEmpty)
    }

    @Test("A product's number is that of its content")
    func numbers() {
        func number(_ app: BundleID, _ id: ProductID, _ type: ProductType, _ quantity: Int) -> Int64 {
            StoredProduct(
                bundleID: app, product: Product(id: id, type: type, items: [Item(item: "gems", quantity: quantity)])
            ).number
        }
        let numbers = [
            number("a", "bc", .consumable, 1), number("ab", "c", .consumable, 1), number("a", "bc", .nonConsumable, 1),
            number("a", "bc", .consumable, 2),
        ]
        #expect(Set(numbers).count == 4)
        #expect(numbers.allSatisfy { $0 >= 0 })
        #expect(number("a", "bc", .consumable, 1) == numbers[0])
    }

    @Test("A history survives its column, without line breaks")
    func histories() {
        var history = AttemptHistory()
        #expect(history.text == nil)
        history.add(Attempt(at: Timestamp(milliseconds: 5), cause: "no_answer", detail: "HTTP 500: a  b"))
        history.add(Attempt(at: Timestamp(milliseconds: 6), cause: "unreachable", detail: ""))
        #expect(AttemptHistory(text: history.text) == history)
        history.add(Attempt(at: Timestamp(milliseconds: 7), cause: "x", detail: "one\r\ntwo"))
        #expect(AttemptHistory(text: history.text).attempts.last?.detail == "one two")
    }

    @Test("A grant key's column is null where it follows from the transaction")
    func grantKeys() {
        for (name, column) in [("t:7", nil), ("t:6", "6"), ("w:6", "w:6"), ("p:6:1", "p:6:1")] as [(String, String?)] {
            let key = GrantKey(environment: .sandbox, name: name)
            #expect(key.column(of: "7") == column)
            #expect(GrantKey(environment: .sandbox, column: column, of: "7") == key)
        }
    }

    @Test("Evidence survives its columns, and rows of each kind are taken")
    func evidence() {
        let all: [Evidence] = [
            .receipt(base64: EvidenceText("cmVjZWlwdA==")), .signedTransaction(EvidenceText("a.b.c")),
            .transactionID("7"),
        ]
        for evidence in all {
            #expect(Evidence(evidence.kind, bytes: Array(evidence.bytes)) == evidence)
            #expect(RetryColumns.isKnown.contains("'\(evidence.kind.rawValue)'"))
        }
        #expect(Evidence.Kind.allCases == all.map(\.kind))
    }

    @Test("All texts of a submission count for the bytes that its row keeps")
    func bytes() {
        let submission = FullSamples.submissions[0]
        let texts = Members.texts(in: submission.claimant) + Members.texts(in: submission.claim)
        #expect(
            submission.retainedBytes == texts.reduce(submission.evidence.byteCount) { $0 + $1.utf8.count })
    }

    @Test("A word of a later version counts as the least that it can mean")
    func causes() {
        let endpoint = Endpoint(.serverAPI, .production)
        #expect(WaitCause(word: "later", endpoint: endpoint) == .retrying(.noAnswer, endpoint))
        #expect(WaitCause(word: "later", endpoint: nil) == .held(.unknownAnswer))
        for cause in RetryCause.allCases {
            let waiting = WaitCause.retrying(cause, endpoint)
            #expect(WaitCause(word: waiting.word, endpoint: waiting.endpoint) == waiting)
        }
    }
}

@Suite("The text of a service's answer")
struct ServiceAnswerTests {
    @Test("is the answer again", arguments: [true, false])
    func again(isRefusal: Bool) {
        let answer = ServiceAnswer(isRefusal: isRefusal, "HTTP 422: refused: twice")
        #expect(ServiceAnswer(text: answer.text) == answer)
    }

    @Test("of a later version is no refusal, and is shown as it is")
    func foreign() {
        #expect(ServiceAnswer(text: "later: 9") == ServiceAnswer(isRefusal: false, "later: 9"))
    }
}

@Suite("The text of a sample of what waits")
struct MeasureTextTests {
    @Test("is the sample again")
    func again() throws {
        let endpoint = Endpoint(.serverAPI, .sandbox, key: "com.example.game")
        let measure = LedgerMeasure(
            retries: [
                .init(bundleID: "com.example.game", rows: 3, bytes: 9_000_000_000),
                .init(bundleID: "b c", rows: 1, bytes: 1),
            ],
            waiting: [
                .init(endpoint: nil, rows: 2),
                .init(endpoint: endpoint, rows: 1, oldest: Timestamp(milliseconds: 1_700_000_000_000)),
            ],
            held: [
                LedgerMeasure.Held(
                    "com.example.game", .productNotConfigured, rows: 7, ["Not listed: gems.", "Not listed: a b."],
                    oldest: Timestamp(milliseconds: 1_600_000_000_000)),
                LedgerMeasure.Held("b c", .unknownAnswer, rows: 1, []),
            ],
            calls: [
                .init(
                    bundleID: "com.example.game", rows: 9, refused: 2,
                    oldest: Timestamp(milliseconds: 1_650_000_000_000)),
                .init(bundleID: "b c", rows: 1, refused: 0, oldest: nil),
            ],
            outboxRows: 4, outboxAge: 60_000, later: 5)
        #expect(LedgerMeasure(text: measure.text) == measure)
        let empty = LedgerMeasure(retries: [], waiting: [], outboxRows: 0, outboxAge: 0)
        #expect(LedgerMeasure(text: empty.text) == empty)
    }

    @Test("of a later version is read without its further members, and is none with a word that is not known")
    func foreign() {
        let held = LedgerMeasure.Held("a", .unknownAnswer, rows: 1, ["one\ntwo"])
        let measure = LedgerMeasure(retries: [], waiting: [], held: [held], outboxRows: 0, outboxAge: 0)
        #expect(LedgerMeasure(text: #"{"later version":1,"# + measure.text.dropFirst()) == measure)
        #expect(LedgerMeasure(text: measure.text.replacing(held.group.cause.rawValue, with: "later")) == nil)
        #expect(LedgerMeasure(text: "") == nil)
    }
}
