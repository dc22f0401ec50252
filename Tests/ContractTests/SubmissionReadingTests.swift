import Scheduling
import Testing

@testable import Contract

@Suite("Reading submissions")
struct SubmissionReaderTests {
    private static let now = Timestamp(milliseconds: 1_795_255_300_000)

    private func read(
        _ value: [UInt8]?, headers: [RecordHeader] = [], timestamp: Timestamp? = nil
    ) -> SubmissionReading {
        SubmissionReading(
            InputRecord(
                origin: Origin(topic: "in", partition: 0, offset: 1), key: nil, value: value, headers: headers,
                timestamp: timestamp),
            now: Self.now)
    }

    private func read(_ text: String) -> SubmissionReading { read(Array(text.utf8)) }

    private func message(_ more: String = "") -> String {
        #"{"submissionId":"s-1","userId":"u-1","bundleId":"com.example.game","receipt":"AAAA"\#(more)}"#
    }

    @Test("reads every member of the contract and ignores others")
    func everyMember() throws {
        let result = read(
            message(
                #","transactionId":"1000","productId":"p","orderId":"o","appAccountToken":"7E3FB20B-4CDB-47CC-936D-99D65F608138","environment":"sandbox","submittedAt":"2026-11-21T10:00:00Z","extra":{"a":[1]}"#
            ))
        guard case .submission(let submission) = result else { return #expect(Bool(false), "\(result)") }
        #expect(
            submission
                == Submission(
                    claimant: Claimant(
                        submissionID: "s-1", userID: "u-1", bundleID: "com.example.game", orderID: "o", traceparent: nil
                    ),
                    claim: Claim(
                        transactionID: "1000", productID: "p",
                        appAccountToken: "7e3fb20b-4cdb-47cc-936d-99d65f608138", environment: .sandbox,
                        submittedAt: Timestamp(milliseconds: 1_795_255_200_000)),
                    evidence: .receipt(base64: "AAAA"), origin: Origin(topic: "in", partition: 0, offset: 1),
                    receivedAt: Self.now))
    }

    @Test("takes null for absent")
    func null() {
        guard case .submission(let read) = read(message(#","orderId":null,"productId":null"#)) else {
            return #expect(Bool(false))
        }
        #expect(read.orderID == nil && read.claim.productID == nil)
    }

    @Test(
        "takes an empty text for absent, as null is, and a zero for none where a number stands",
        arguments: [#""""#, "null", "0"])
    func empty(_ nothing: String) {
        let names = ["signedTransaction", "transactionId", "productId", "orderId", "appAccountToken"]
        let isText = nothing != "0"
        let members = names.dropFirst(isText ? 0 : 1).map { #","\#($0)":\#(nothing)"# }.joined()
        guard case .submission(let read) = read(message(members)) else { return #expect(Bool(false), "\(members)") }
        #expect(read.claim == Claim.nothing && read.orderID == nil && read.evidence == .receipt(base64: "AAAA"))
    }

    @Test("takes a missing bundle id for missing, in whatever way it is left out", arguments: [#""""#, "null"])
    func emptyBundle(_ nothing: String) {
        let text = #"{"submissionId":"s","userId":"u","bundleId":\#(nothing),"receipt":"AAAA"}"#
        guard case .malformed(let malformed) = read(text) else { return #expect(Bool(false)) }
        #expect(malformed.rejection.detail == "bundleId is missing.")
    }

    @Test(
        "takes ids without the zeros in front, and zeros only for none",
        arguments: ["000123", "0123", "123", " 123\\n"])
    func zeros(_ text: String) {
        let head = #"{"submissionId":"s","userId":"u","bundleId":"b""#
        guard case .submission(let read) = read(head + #","transactionId":"\#(text)"}"#) else {
            return #expect(Bool(false))
        }
        #expect(read.claim.transactionID == "123" && read.evidence == .transactionID("123"))
        guard case .malformed = self.read(head + #","transactionId":"000"}"#) else { return #expect(Bool(false)) }
    }

    @Test("takes whole numbers for ids where every reader of JSON has them exactly")
    func numbers() {
        let text = """
            {"submissionId":12,"userId":77,"bundleId":"b","orderId":5,"transactionId":9007199254740991,"receipt":"AAAA"}
            """
        guard case .submission(let read) = read(text) else { return #expect(Bool(false)) }
        #expect(read.id == "12" && read.userID == "77" && read.orderID == "5")
        #expect(read.claim.transactionID == "9007199254740991")
        guard case .malformed(let malformed) = self.read(message(#","transactionId":9007199254740993"#)) else {
            return #expect(Bool(false))
        }
        #expect(
            malformed.rejection.detail
                == "transactionId is a number of 2^53 or more, which many writers round: send it as a string.")
    }

    @Test(
        "ignores hints that it cannot read",
        arguments: [
            (#","environment":"Production""#, .production), (#","environment":"SANDBOX""#, .sandbox),
            (#","environment":"xcode""#, nil), (#","environment":7"#, nil), (#","environment":{"a":1}"#, nil),
            (#","environment":"""#, nil), (#","submittedAt":"yesterday""#, nil),
            (#","submittedAt":"2026-11-25T10:00:00""#, nil), (#","submittedAt":1795255200000"#, nil),
            (#","submittedAt":[]"#, nil), (#","submittedAt":true"#, nil),
        ] as [(String, Environment?)])
    func hints(_ member: String, _ environment: Environment?) {
        guard case .submission(let read) = read(message(member)) else { return #expect(Bool(false), "\(member)") }
        #expect(
            read.claim
                == Claim(
                    transactionID: nil, productID: nil, appAccountToken: nil, environment: environment, submittedAt: nil
                ))
    }

    @Test("chooses the evidence")
    func evidence() {
        let head = #"{"submissionId":"s","userId":"u","bundleId":"b""#
        let cases: [(String, Evidence)] = [
            (#","signedTransaction":"a.b.c"}"#, .signedTransaction("a.b.c")),
            (#","transactionId":"12"}"#, .transactionID("12")),
            (#","receipt":"AAAA","transactionId":"12"}"#, .receipt(base64: "AAAA")),
            (#","receipt":"AA\/\u0041","transactionId":"12"}"#, .receipt(base64: "AA/A")),
            (#","receipt":"AAAA","signedTransaction":"","transactionId":"12"}"#, .receipt(base64: "AAAA")),
            (#","receipt":"AAAA","signedTransaction":" \n"}"#, .receipt(base64: "AAAA")),
            (#","receipt":"","signedTransaction":"a.b.c"}"#, .signedTransaction("a.b.c")),
            (#","receipt":null,"signedTransaction":"a.b.c","transactionId":"12"}"#, .signedTransaction("a.b.c")),
            // It needs nobody to be asked.
            (#","receipt":"AAAA","signedTransaction":"a.b.c"}"#, .signedTransaction("a.b.c")),
            // Text that is no evidence gives way.
            (#","receipt":"AAAA","signedTransaction":"undefined"}"#, .receipt(base64: "AAAA")),
            (#","receipt":"AAAA","signedTransaction":"cut off"}"#, .receipt(base64: "AAAA")),
            (#","receipt":"AAAA","signedTransaction":{}}"#, .receipt(base64: "AAAA")),
            (#","receipt":"null","signedTransaction":"a.b.c"}"#, .signedTransaction("a.b.c")),
            (#","receipt":false,"signedTransaction":"a.b.c"}"#, .signedTransaction("a.b.c")),
            (#","receipt":5,"signedTransaction":"a.b.c","transactionId":"12"}"#, .signedTransaction("a.b.c")),
            (#","receipt":"AAAA","signedTransaction":[1],"transactionId":"12"}"#, .receipt(base64: "AAAA")),
            (#","signedTransaction":"cut off","transactionId":"12"}"#, .signedTransaction("cut off")),
        ]
        for (rest, evidence) in cases {
            guard case .submission(let read) = read(head + rest) else { return #expect(Bool(false), "\(rest)") }
            #expect(read.evidence == evidence)
        }
    }

    @Test(
        "takes the values that languages write for no value for no evidence, beside an id",
        arguments: [
            "null", "false", "0", "[]", "[ ]", "{}", "{ \n}", #""""#, #"" ""#, #""\n\t      \r""#, #""(null)""#,
            #""UNDEFINED""#,
        ])
    func noEvidence(_ nothing: String) {
        for name in ["receipt", "signedTransaction"] {
            let text = #"{"submissionId":"s","userId":"u","bundleId":"b","\#(name)":\#(nothing),"transactionId":"12"}"#
            guard case .submission(let read) = read(text) else { return #expect(Bool(false), "\(text)") }
            #expect(read.evidence == .transactionID("12"), "\(text)")
        }
    }

    @Test(
        "lets nothing else leave a bare id behind, because some backends take anything of some length for evidence",
        arguments: [
            "5", "-0.5", "true", "[[]]", #"[""]"#, "[\(String(repeating: "0,", count: 199))0]", #"{"length":200}"#,
            #""\#(String(repeating: " ", count: 10))""#, #""\#(String(repeating: "\\u0020\\n", count: 99))""#,
        ])
    func notEvidence(_ value: String) {
        for name in ["receipt", "signedTransaction"] {
            let text = #"{"submissionId":"s","userId":"u","bundleId":"b","\#(name)":\#(value),"transactionId":"12"}"#
            guard case .malformed(let malformed) = read(text) else { return #expect(Bool(false), "\(text)") }
            let fault = value.hasPrefix("\"") ? "is blank." : "is not a string."
            #expect(malformed.rejection == Rejection(.malformedSubmission, "\(name) \(fault)"))
        }
    }

    @Test(
        "answers as malformed what names a submission and a user",
        arguments: [
            (#","orderId":5.5"#, "orderId is not a string."), (#","orderId":-5"#, "orderId is not a string."),
            (#","orderId":true"#, "orderId is not a string."),
            (
                #","orderId":9007199254740993"#,
                "orderId is a number of 2^53 or more, which many writers round: send it as a string."
            ),
            (#","productId":"a\u0000b""#, "productId has a form that is not allowed."),
            (#","transactionId":"../../x""#, "transactionId has a form that is not allowed."),
            (#","transactionId":"123456789012345678901""#, "transactionId has a form that is not allowed."),
            (#","transactionId":1e3"#, "transactionId is not a string."),
            (#","productId":"a","productId":"b""#, "productId stands more than once."),
            (#","receipt":"BBBB""#, "receipt stands more than once."),
            (#","my secret":1,"my secret":2"#, "A member stands more than once."),
            (#","x":{"y":1,"y":2}"#, "A member stands more than once."),
        ])
    func malformed(_ more: String, _ detail: String) {
        guard case .malformed(let malformed) = read(message(more)) else {
            return #expect(Bool(false), "\(more)")
        }
        #expect(malformed.claimant.submissionID == "s-1" && malformed.claimant.userID == "u-1")
        #expect(malformed.rejection == Rejection(.malformedSubmission, detail))
    }

    @Test(
        "takes what names no account for no account token",
        arguments: [
            #""not-a-uuid""#, #""""#, #""00000000-0000-0000-0000-000000000000""#, "null", "5", "{}",
            #""7E3FB20B4CDB47CC936D99D65F60813""#, #""7e3fb20b-4cdb-47cc-936d-99d65f6081380""#,
            #""x:7e3fb20b-4cdb-47cc-936d-99d65f608138""#, #""undefined""#,
        ])
    func noToken(json: String) {
        guard case .submission(let read) = read(message(#","appAccountToken":\#(json)"#)) else {
            return #expect(Bool(false), "\(json)")
        }
        #expect(read.claim.appAccountToken == nil)
    }

    @Test(
        "takes a UUID for one in whatever form it is written",
        arguments: [
            "7e3fb20b-4cdb-47cc-936d-99d65f608138", "7E3FB20B-4CDB-47CC-936D-99D65F608138",
            "7E3FB20B4CDB47CC936D99D65F608138", "{7E3FB20B-4CDB-47CC-936D-99D65F608138}",
            "urn:uuid:7e3fb20b-4cdb-47cc-936d-99d65f608138", " 7e3fb20b-4cdb-47cc-936d-99d65f608138\n",
        ])
    func tokenForms(text: String) {
        #expect(Claim.accountToken(text) == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
    }

    @Test(
        "takes the words for nothing of other languages for nothing",
        arguments: ["null", "(null)", "nil", "None", "undefined"])
    func nothing(word: String) {
        let members = ["productId", "orderId", "transactionId"].map { #","\#($0)":"\#(word)""# }.joined()
        guard case .submission(let read) = read(message(members)) else { return #expect(Bool(false), "\(word)") }
        #expect(read.claim == Claim.nothing)
        #expect(read.orderID == nil)
    }

    @Test("answers as malformed what lacks an app or evidence")
    func missing() {
        for (text, detail) in [
            (#"{"submissionId":"s","userId":"u","receipt":"AAAA"}"#, "bundleId is missing."),
            (
                #"{"submissionId":"s","userId":"u","bundleId":"b"}"#,
                "One of receipt, signedTransaction or transactionId is needed."
            ),
            (#"{"submissionId":"s","userId":"u","bundleId":[],"receipt":"A"}"#, "bundleId is not a string."),
            (
                #"{"submissionId":"s","userId":"u","bundleId":"b","receipt":5}"#,
                "receipt is not a string."
            ),
            (
                #"{"submissionId":"s","userId":"u","bundleId":"b","receipt":"","signedTransaction":{}}"#,
                "One of receipt, signedTransaction or transactionId is needed."
            ),
        ] {
            guard case .malformed(let malformed) = read(text) else { return #expect(Bool(false), "\(text)") }
            #expect(malformed.rejection == Rejection(.malformedSubmission, detail))
        }
    }

    private static let character =
        "submissionId has a character that is not allowed: one other than A-Z, a-z, 0-9, dot, underscore, colon and minus"

    @Test(
        "sends to quarantine what names no submission or no user, and says which rule it breaks",
        arguments: [
            (#"{"userId":"u"}"#, "submissionId is missing or empty"),
            (#"{"submissionId":"","userId":"u"}"#, "submissionId is missing or empty"),
            (#"{"submissionId":"a b","userId":"u"}"#, Self.character),
            (#"{"submissionId":"é","userId":"u"}"#, Self.character),
            (#"{"submissionId":7.5,"userId":"u"}"#, "submissionId is neither a string nor a whole number"),
            (#"{"submissionId":0,"userId":"u"}"#, "submissionId is missing or empty"),
            (#"{"submissionId":"a","userId":0}"#, "userId is missing or empty"),
            (
                #"{"submissionId":"a","userId":9007199254740993}"#,
                "userId is a number of 2^53 or more, which many writers round: send it as a string"
            ),
            (#"{"schema":null,"payload":"a"}"#, "submissionId is missing or empty"),
            (
                #"{"schema":null,"payload":{"submissionId":"a"}}"#,
                "no submissionId: the value is wrapped in schema and payload (schemas.enable)"
            ),
            (
                #"{"schema":{},"payload":{"submissionId":"a"}}"#,
                "no submissionId: the value is wrapped in schema and payload (schemas.enable)"
            ),
            (#"{"submissionId":"a","submissionId":"b","userId":"u"}"#, "submissionId stands more than once"),
            (#"{"submissionId":"a"}"#, "userId is missing or empty"),
            (#"{"submissionId":"a","userId":""}"#, "userId is missing or empty"),
            (#"{"submissionId":"a","userId":"undefined"}"#, "userId is a word that stands for no value, such as null"),
            (#"{"submissionId":"a","userId":"(null)"}"#, "userId is a word that stands for no value, such as null"),
            (#"{"submissionId":"null","userId":"u"}"#, "submissionId is a word that stands for no value, such as null"),
            (
                #"{"submissionId":"a","userId":"u\u0000"}"#,
                "userId has a character that is not allowed: a control character"
            ),
            (#"{"submissionId":"a","userId":"u","userId":"v"}"#, "userId stands more than once"),
            ("", "not a JSON object"), ("[]", "not a JSON object"), ("{", "not JSON"),
            (#"{"submissionId":"a","userId":"u""#, "not JSON"),
            (#"{"submissionId":"a","userId":"u","orderId":"\ud800"}"#, "lone surrogate in a string"),
        ])
    func unreadable(_ text: String, _ reason: String) {
        guard case .unreadable(let found) = read(text) else { return #expect(Bool(false), "\(text)") }
        #expect(found.words == reason)
    }

    @Test("sends tombstones and oversized records to quarantine")
    func extremes() {
        #expect(read(nil) == .unreadable(.noValue))
        let large = [UInt8](repeating: 0x20, count: SubmissionReading.maxValueBytes + 1)
        #expect(read(large) == .unreadable(.tooLarge))
    }

    @Test("tells ids at their limits apart from ids beyond them")
    func limits() {
        let longest = String(repeating: "a", count: 128)
        let user = String(repeating: "é", count: 128)
        guard
            case .submission = read(#"{"submissionId":"\#(longest)","userId":"\#(user)","bundleId":"b","receipt":"A"}"#)
        else { return #expect(Bool(false)) }
        #expect(read(#"{"submissionId":"\#(longest)a","userId":"u"}"#) == .unreadable(.submissionID(.tooLong)))
        #expect(read(#"{"submissionId":"a","userId":"\#(user)é"}"#) == .unreadable(.userID(.tooLong)))
    }

    @Test("hands on a traceparent that can be one")
    func traceparent() {
        let value = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let results = [value, "two words", String(repeating: "a", count: 129)].map {
            read(Array(message().utf8), headers: [RecordHeader("traceparent", $0)])
        }
        let found = results.map { result -> String? in
            guard case .submission(let read) = result else { return "unread" }
            return read.traceparent
        }
        #expect(found == [value, nil, nil])
    }

    @Test("takes the record's time, and the present where a producer's clock is ahead or the record has none")
    func receivedAt() {
        let now = Self.now.milliseconds
        // Seconds where Kafka has milliseconds say 1970; a record without a time says -1.
        let times: [Int64?: Int64] = [
            now - 1000: now - 1000, now + 1000: now, nil: now, -1: now, 0: now, now / 1000: now,
        ]
        for (recorded, expected) in times {
            let timestamp = recorded.map { Timestamp(milliseconds: $0) }
            guard case .submission(let read) = read(Array(message().utf8), timestamp: timestamp) else {
                return #expect(Bool(false))
            }
            #expect(read.receivedAt == Timestamp(milliseconds: expected))
        }
    }

    @Test("keeps evidence as a part of the record, not as a copy")
    func slice() {
        guard case .submission(let read) = read(message()), case .receipt(let text) = read.evidence else {
            return #expect(Bool(false))
        }
        #expect(text.bytes.startIndex > 0)
    }

    @Test("tells malformed submissions under one id apart by their digests")
    func malformedDigests() {
        func digest(_ more: String) -> ClaimDigest? {
            guard case .malformed(let malformed) = read(message(more)) else { return nil }
            return malformed.digest
        }
        #expect(digest(#","orderId":[5]"#) != nil)
        #expect(digest(#","orderId":[5]"#) == digest(#","orderId":[5]"#))
        #expect(digest(#","orderId":[5]"#) != digest(#","orderId":[6]"#))
    }

    @Test("gives every text exactly one result, and never crashes", arguments: 0..<10)
    func anyBytes(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let valid = Array(message(#","transactionId":"1000","x":{"y":[1,2,{"z":null}]}"#).utf8)
        var kinds: Set<String> = []
        for _ in 0..<2_000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.removeSubrange(index...)
                default: bytes.insert(contentsOf: bytes[index...].prefix(9), at: index)
                }
            }
            switch read(bytes) {
            case .submission(let read):
                kinds.insert("submission")
                #expect(MemberForms.submissionID(read.claimant.submissionID.rawValue) != nil)
            case .malformed: kinds.insert("malformed")
            case .unreadable: kinds.insert("unreadable")
            }
        }
        #expect(kinds == ["submission", "malformed", "unreadable"])
    }
}
