import AppStore
import Contract
import Fulfilment
import Ledger
import Testing

@testable import Processing
@testable import Worker

/// Records as they come, on the way that a worker takes.
@Suite("Checks of records")
struct SubmissionCheckTests {
    private static let now = Timestamp(milliseconds: 1_795_237_200_000)

    /// Unsigned, of com.example.game, made at 2026-11-21T04:59:13Z.
    private static let receipt = """
        MHEGCSqGSIb3DQEHAqBkMGICAQExADBNBgkqhkiG9w0BBwGgQAQ+MTwwGgIBAgIBAQQSDBBjb20uZXhhbXBsZS5nYW1lMB4CAQwC\
        AQEEFhYUMjAyNi0xMS0yMVQwNDo1OToxM1qgBTADAgEHMQUwAwIBAQ==
        """

    private func check(
        _ value: String, timestamp: Timestamp? = now, known: KnownOutcome? = nil, service: FulfilmentService? = nil
    ) throws -> CheckResult {
        let app = App(bundleID: "com.example.game", sandbox: .accept, products: .any)
        let verifiers = SignatureVerifiers(roots: try TrustedRoots.apple())
        let content = VerificationParts(
            checker: LocalChecker(apps: [AppRules(app: app, receipts: .verifyReceipt)], verifiers: verifiers),
            verifiers: verifiers, services: service.map { [app.bundleID: FulfilmentRoute($0)] } ?? [:])
        let record = InputRecord(
            origin: Origin(topic: "receipts.submitted", partition: 0, offset: 7), key: nil, value: Array(value.utf8),
            timestamp: timestamp)
        let task = CheckTask(
            token: SubmissionToken(rawValue: 0), work: .record(record, known: known),
            apps: AppsSnapshot(version: 1, endpoints: [], services: [], content: content))
        return SubmissionCheck.perform(task, at: Self.now)
    }

    private func submission(_ members: String) -> String {
        #"{"submissionId":"s-1","userId":"u-1","bundleId":"com.example.game",\#(members)}"#
    }

    private func read(_ value: String, timestamp: Timestamp? = now) throws -> Submission? {
        guard case .submission(let submission, _, _) = try check(value, timestamp: timestamp) else { return nil }
        return submission
    }

    @Test("A new grant owes the app's inventory service a call, unless there is none or it is ending")
    func owedCall() throws {
        func owesCall(_ service: FulfilmentService?) throws -> Bool? {
            let value = submission(#""receipt":"\#(Self.receipt)""#)
            guard case .submission(_, let options, _) = try check(value, service: service) else { return nil }
            return options.owesCall
        }
        func service(isEnding: Bool) -> FulfilmentService {
            FulfilmentService(
                url: "https://inventory.example.com/", secrets: [], timeout: .seconds(5), mostCalls: 50, caFile: nil,
                isEnding: isEnding)
        }
        #expect(try owesCall(nil) == false)
        #expect(try owesCall(service(isEnding: false)) == true)
        #expect(try owesCall(service(isEnding: true)) == false)
    }

    @Test("A failure and a wait are known by their content, grants whatever it is", arguments: [true, false])
    func known(isFailure: Bool) throws {
        let value = submission(#""receipt":"AAAA""#)
        let former = try #require(try read(value))
        func isKnown(_ value: String, _ kind: KnownOutcome.Kind, _ digest: ClaimDigest?) throws -> Bool {
            let outcome = KnownOutcome(
                origin: former.origin, bundleID: former.bundleID, submissionID: former.id, userID: former.userID,
                kind: kind, digest: digest, publish: [])
            if case .known = try check(value, known: outcome) { return true }
            return false
        }
        let kind = isFailure ? KnownOutcome.Kind.failed : .waiting
        let malformed = #"{"submissionId":"s-1","userId":"u-1","bundleId":7}"#
        for other in [submission(#""receipt":"BBBB""#), malformed] {
            #expect(try !isKnown(other, kind, ClaimDigest(of: former)), "a topic made anew has it at the old offset")
            #expect(try isKnown(other, .granted, nil) == (other != malformed))
        }
        #expect(try isKnown(value, kind, ClaimDigest(of: former)))
    }

    @Test(
        "A hint, an empty member and a byte order mark fail nothing",
        arguments: [
            #""receipt":"AAAA","environment":"Production""#, #""receipt":"AAAA","submittedAt":"2026-11-25T10:00:00""#,
            #""receipt":"AAAA","signedTransaction":"","orderId":"","appAccountToken":"""#,
        ])
    func forms(members: String) throws {
        for mark in ["", "\u{FEFF}"] {
            #expect(try read(mark + submission(members))?.evidence == .receipt(base64: "AAAA"))
        }
    }

    @Test("The moment of a submission is the record's, or now where the record has none that can be true")
    func moment() throws {
        let value = submission(#""transactionId":"7""#)
        let earlier = Self.now.advanced(by: .seconds(-60))
        #expect(try read(value, timestamp: earlier)?.receivedAt == earlier)
        for none in [nil, Timestamp(milliseconds: -1), Timestamp(milliseconds: Self.now.milliseconds / 1000)] {
            #expect(try read(value, timestamp: none)?.receivedAt == Self.now)
        }
    }

    @Test("A record that says it is older than its evidence goes on, and waits, with the moment of its first check")
    func evidence() throws {
        let value = submission("\"receipt\":\"\(Self.receipt)\"")
        #expect(try read(value, timestamp: Self.now.advanced(by: .seconds(-86_400)))?.receivedAt == Self.now)
        let made = Timestamp(rfc3339: "2026-11-21T04:59:13Z")
        #expect(try read(value, timestamp: made?.advanced(by: .seconds(-5)))?.receivedAt == made)
        #expect(
            try read(value, timestamp: made?.advanced(by: .seconds(5)))?.receivedAt == made?.advanced(by: .seconds(5)))
    }

    @Test("Bytes of a schema registry before the JSON are quarantined, and named")
    func registry() throws {
        guard
            case .unreadable(let event, _, .foreignForm) = try check("\0\0\0\0\u{7}" + submission(#""receipt":"AAAA""#))
        else {
            return #expect(Bool(false))
        }
        #expect(
            event.headers.contains(
                RecordHeader("x-quarantine-reason", "five bytes of a schema registry stand before the JSON")))
    }
}
