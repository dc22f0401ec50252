import AppStore
import CertificateMaking
import CommandParser
import Configuration
import Contract
import Foundation
import Fulfilment
import Kafka
import Ledger
import Testing

@testable import Commands

@Suite("Checking everything")
struct CheckCommandTests {
    private var grantor: SampleRun

    init() throws { grantor = try SampleRun.complete() }

    private static func write(_ text: String, to file: String) throws {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    @Test("The settings are shown on demand, with where each value comes from")
    func settings() {
        let result = grantor("check --settings")
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(
            lines.contains {
                $0.hasPrefix("kafka.bootstrapServers ") && $0.contains("  kafka:9092 ") && $0.hasSuffix("  environment")
            })
        #expect(lines.contains { $0.hasPrefix("maxCalls ") && $0.hasSuffix("  default") })
        #expect(lines.last == "" && lines.contains("9 checks: 9 ok"))
    }

    @Test("Scripts get the same as JSON")
    func json() throws {
        var grantor = grantor
        grantor.cluster.topics["purchases.failed"] = .missing
        let result = grantor("check --json --settings")
        #expect(result.status == .failed)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(object["ok"] as? Int == 8 && object["warning"] as? Int == 0 && object["failed"] as? Int == 1)
        let checks = try #require(object["checks"] as? [[String: String]])
        #expect(
            checks.contains([
                "name": "topic purchases.failed", "result": "failed",
                "detail": "missing; grantor topics create makes it",
            ]))
        let settings = try #require(object["settings"] as? [[String: String]])
        #expect(settings.contains(["key": "maxCalls", "value": "1000", "from": "default"]))
    }

    @Test("A good configuration is told in a table with its sum")
    func good() {
        let result = grantor("check")
        #expect(result.status == .done && result.errors.isEmpty)
        #expect(
            result.output
                == """
                CHECK                            RESULT  DETAIL
                broker                           ok      3 reachable
                group grantor                    ok      may be read
                topic receipts.submitted         ok      12 partitions, 3 replicas
                topic purchases.granted          ok      12 partitions, 3 replicas
                topic purchases.failed           ok      12 partitions, 3 replicas
                topic receipts.quarantined       ok      12 partitions, 3 replicas
                ledger                           ok      0b7d9a52-0000-4000-8000-000000000001, 0 owed
                Apple verifyReceipt, production  ok      answers
                Apple verifyReceipt, sandbox     ok      answers

                9 checks: 9 ok

                """)
    }

    @Test("Roots of a simulator are a warning beside Apple's own hosts")
    func roots() throws {
        var grantor = grantor
        let roots = grantor.folder + "/roots.pem"
        try Self.write(CertificateChain(validity: 1_700_000_000...1_900_000_000).rootPEM, to: roots)
        grantor.environment["GRANTOR_APPLE_ROOT_CERTIFICATES"] = roots
        let result = grantor("check")
        #expect(result.status == .done)
        #expect(result.output.contains("\nApple's signatures               warning  Apple's own hosts are asked, and "))
    }

    @Test("Each part that fails is named, and the others are checked all the same")
    func failures() {
        var grantor = grantor
        grantor.cluster.topics["purchases.failed"] = .missing
        grantor.cluster.properties["receipts.submitted"]?["cleanup.policy"] = "compact"
        grantor.open = { () throws(LedgerError) in throw .unusable(detail: "there is no ledger") }
        grantor.apple.sandboxAnswer = .failed(.tls)
        let result = grantor("check")
        #expect(result.status == .failed && result.errors.isEmpty)
        for line in [
            "topic receipts.submitted         FAILED  12 partitions, 3 replicas; cleanup.policy is compact, which drops records of the same user",
            "topic purchases.failed           FAILED  missing; grantor topics create makes it",
            "ledger                           FAILED  the ledger cannot be used: there is no ledger",
            "Apple verifyReceipt, production  ok      answers",
            "Apple verifyReceipt, sandbox     FAILED  no answer: the TLS connection failed, or its certificate is not trusted",
        ] {
            #expect(result.output.contains("\n\(line)"))
        }
    }

    @Test("A ledger that knows less than the group is refused as run refuses it")
    func forgotten() {
        var grantor = grantor
        grantor.cluster.committed = [TopicPartition(topic: "receipts.submitted", partition: 3): 7]
        let result = grantor("check")
        #expect(result.status == .configuration)
        #expect(
            result.output.contains(
                "ledger                           FAILED  \(FixedLedger.id), which knows nothing of the group's offsets\n"
            ))
        #expect(
            result.errors.contains("the ledger \(FixedLedger.id) knows nothing of them")
                && result.errors.hasSuffix("run: grantor ledger accept \(FixedLedger.id) --actor NAME --reason WHY\n"))
        grantor.hasLedger = false
        #expect(grantor("check").status == .configuration)
    }

    @Test(
        "A ledger that lost writes says how many records are read again", arguments: [(173, nil), (174, 1), (200, 27)])
    func setBack(committed: Int64, records: Int?) {
        var grantor = grantor
        grantor.cluster.committed = [TopicPartition(topic: "receipts.submitted", partition: 5): committed]
        let output = grantor("check").output
        let words = records.map { "it is \($0.of("record", "records")) behind its group, as after a restore" }
        #expect(output.contains(words ?? "\(FixedLedger.id), "))
        #expect(output.contains("behind its group") == (records != nil))
    }

    @Test("The ledger of another group is refused as run refuses it, with both groups")
    func foreign() {
        var grantor = grantor
        let owner = ConsumerGroup(name: "another", cluster: "cluster-0") { $0.defaultName }
        grantor.ledger = FixedLedger(owner: owner)
        let result = grantor("check")
        #expect(result.status == .configuration)
        #expect(
            result.output.contains(
                "ledger                           FAILED  \(FixedLedger.id), which belongs to \(owner)\n"))
        let group = ConsumerGroup(name: "grantor", cluster: "cluster-1") { $0.defaultName }
        #expect(group.refusal(of: FixedLedger.id, owner: owner).map { result.errors.contains($0) } == true)
    }

    @Test("A ledger of other input topics is named, because what waits of them is told on these topics")
    func otherTopics() {
        var grantor = grantor
        grantor.environment["GRANTOR_TOPIC_SUBMITTED"] = "others.submitted"
        let line =
            "ledger                           warning  \(FixedLedger.id), 0 owed; it has partitions of "
            + "receipts.submitted, which these settings do not read; what waits of them is told on the topics of these "
            + "settings\n"
        #expect(grantor("check").output.contains(line))
    }

    @Test("Each thing that a ledger on a server rests on has its line")
    func findings() {
        var grantor = grantor
        grantor.findings = [
            LedgerFinding("server", "PostgreSQL 15.18"),
            LedgerFinding("clock", "2000 ms ahead", warnings: ["one is wrong"]),
        ]
        let good = grantor("check")
        #expect(good.status == .done)
        for line in [
            "ledger server                    ok       PostgreSQL 15.18",
            "ledger clock                     warning  2000 ms ahead; one is wrong",
            "ledger                           ok       \(FixedLedger.id), 0 owed",
        ] {
            #expect(good.output.contains("\n\(line)\n"))
        }
        grantor.findings.append(LedgerFinding("rights", "user kim", failures: ["this user lacks INSERT on grants"]))
        let failed = grantor("check")
        #expect(failed.status == .failed)
        #expect(
            failed.output.contains(
                "\nledger rights                    FAILED   user kim; this user lacks INSERT on grants\n"))
        #expect(!failed.output.contains(FixedLedger.id), "a worker would not get so far")
    }

    @Test("A ledger on a server is not made by workers")
    func migration() {
        var grantor = grantor
        grantor.environment["GRANTOR_LEDGER_URL"] = "postgres://db/grantor"
        grantor.hasLedger = false
        let result = grantor("check")
        #expect(result.status == .failed)
        #expect(result.output.contains("FAILED  there is none yet; grantor migrate makes it\n"))
    }

    @Test("A warning does not fail the check")
    func warning() {
        var grantor = grantor
        grantor.hasLedger = false
        grantor.cluster.properties["purchases.granted"] = nil
        let result = grantor("check")
        #expect(result.status == .done)
        #expect(
            result.output.contains(
                "topic purchases.granted          warning  12 partitions, 3 replicas; its properties may not be read"))
        #expect(result.output.contains("warning  there is none yet; grantor migrate or grantor run makes it\n"))
    }

    @Test(
        "An outage of Apple's is a warning, because workers wait for its end",
        arguments: [
            AppStoreReply.failed(.timedOut), .failed(.unreachable),
            .response(httpStatus: 503, retryAfter: nil, body: []),
        ])
    func appleAway(reply: AppStoreReply) {
        var grantor = grantor
        grantor.apple.sandboxAnswer = reply
        let result = grantor("check")
        #expect(result.status == .done)
        #expect(result.output.contains("\nApple verifyReceipt, sandbox     warning  "))
        #expect(result.output.contains("workers wait for Apple, if it is not this host that cannot reach it\n"))
        #expect(result.output.hasSuffix("\n9 checks: 8 ok, 1 warning\n"))
    }

    @Test("A page in the place of Apple's reply is none, though it comes with 200")
    func pageOfAProxy() {
        var grantor = grantor
        grantor.apple.sandboxAnswer = .response(httpStatus: 200, retryAfter: nil, body: Array("<html></html>".utf8))
        let result = grantor("check")
        #expect(result.status == .failed)
        #expect(result.output.contains("\nApple verifyReceipt, production  ok      answers\n"))
        #expect(result.output.contains("\nApple verifyReceipt, sandbox     FAILED  answers with a page that"))
    }

    @Test("Apps that do not ask verifyReceipt are not checked for it")
    func otherApps() throws {
        try Self.write(
            "apps: [{bundleId: com.example.game, sandbox: {policy: reject}, products: any, receipts: local}]",
            to: grantor.folder + "/apps.yaml")
        let result = grantor("check")
        #expect(!result.output.contains("Apple verifyReceipt"))
        #expect(grantor.apple.asked.all.isEmpty)
    }

    private func withService(_ more: String = "") throws {
        try Self.write("0123456789abcdef\n", to: grantor.folder + "/secret")
        try Self.write(
            """
            apps:
              - bundleId: com.example.game
                sandbox: {policy: reject}
                products: any
                receipts: local
                fulfillment: {url: 'https://inventory.example.com/grants', secretFiles: [secret]\(more)}
            """, to: grantor.folder + "/apps.yaml")
    }

    @Test(
        "An inventory service is well if it answers anything of its own, and workers wait for one that does not",
        arguments: [
            (FulfilmentReply.response(status: 405, key: nil, retryAfter: nil), "ok       answers (HTTP 405 to a GET)"),
            (
                .response(status: 503, key: nil, retryAfter: nil),
                "warning  answers with HTTP 503; grants of the app wait"
            ),
            (.failed(.unreachable), "warning  no answer: the service cannot be reached; grants of the app wait"),
            (.failed(.tls), "FAILED   no answer: TLS failed, or the certificate is not trusted (caFile)"),
        ])
    func inventory(reply: FulfilmentReply, words: String) throws {
        try withService()
        var grantor = grantor
        grantor.service = reply
        let result = grantor("check")
        let line = result.output.split(separator: "\n").first { $0.hasPrefix("inventory service, com.example.game") }
        #expect(
            line?.split(separator: " ").joined(separator: " ").contains(
                words.split(separator: " ").joined(separator: " ")) == true, "\(result.output)")
        #expect((result.status == .failed) == words.hasPrefix("FAILED"))
    }

    @Test("An inventory service that is ending is called one")
    func inventoryEnding() throws {
        try withService(", ending: true")
        #expect(grantor("check").output.contains("; it is ending: new grants are published without a call\n"))
    }

    @Test(
        "Settings of an inventory service that are wrong are refused by check and run alike",
        arguments: ["check", "run"])
    func inventoryRefused(command: String) throws {
        try withService(", timeout: 90s")
        let result = grantor(command)
        #expect(result.status == .configuration)
        let words = command == "run" ? result.log.joined() : result.errors
        #expect(words.contains("apps[0].fulfillment.timeout must be a duration with its unit"))
    }

    @Test("Grants that wait for a service that the apps file does not name are a warning")
    func inventoryMissing() throws {
        grantor.ledger.owe([FixedLedger.owed(.call)])
        let result = grantor("check")
        #expect(
            result.output.contains(
                "grants of com.example.game wait untold for an inventory service that the apps file does not name"))
    }

    @Test("No more owed rows are named than were counted", arguments: [(1_000, "1000"), (1_001, "more than 1000")])
    func manyOwed(rows: Int, words: String) throws {
        grantor.ledger.owe(Array(repeating: FixedLedger.owed(.publish), count: rows))
        #expect(grantor("check").output.contains("\(FixedLedger.id), \(words) owed"))
    }

    @Test("A configuration that is refused is not checked further")
    func refused() {
        var grantor = grantor
        grantor.environment["GRANTOR_MAX_CALLS"] = "none"
        let result = grantor("check")
        #expect(result.status == .configuration && result.output.isEmpty)
        #expect(result.errors.hasPrefix("grantor: GRANTOR_MAX_CALLS (maxCalls in the file) must be "))
    }
}

@Suite("Checking an app's key")
struct AppleCheckTests {
    /// Apple's reply about a transaction that does not exist, to a call with the right key.
    private static let notFound = AppStoreReply.response(
        httpStatus: 404, retryAfter: nil,
        body: Array(#"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#.utf8))
    private static let unauthorized = AppStoreReply.response(httpStatus: 401, retryAfter: nil, body: [])

    private func result(_ production: AppStoreReply, _ sandbox: AppStoreReply? = nil) throws -> [String] {
        let grantor = try SampleRun()
        try SampleKey.pem.write(toFile: grantor.folder + "/key.p8", atomically: true, encoding: .utf8)
        try """
        apps:
          - bundleId: com.example.game
            sandbox: {policy: reject}
            products: any
            receipts: local
            serverAPI: {issuerId: i, keyId: k, privateKeyFile: key.p8}
        """.write(toFile: grantor.folder + "/apps.yaml", atomically: true, encoding: .utf8)
        var apple = FixedApple()
        (apple.answer, apple.sandboxAnswer) = (production, sandbox)
        let apps = try ConfiguredApps(file: grantor.folder + "/apps.yaml")
        return AppleCheck(apple: apple, now: { FixedLedger.time }).results(apps).map { "\($0.outcome): \($0.detail)" }
    }

    @Test("A key is proven by an answer that only its owner gets")
    func proof() throws {
        #expect(try result(Self.notFound) == ["good: key accepted by production"])
        #expect(
            try result(Self.unauthorized, Self.notFound)
                == ["good: key accepted by the sandbox; production refuses unreleased apps"])
        #expect(
            try result(Self.unauthorized, Self.unauthorized)
                == ["failed: refused (HTTP 401): issuer, key id, key or bundle id is wrong"])
    }

    @Test("Any other answer proves nothing")
    func otherAnswers() throws {
        #expect(
            try result(.response(httpStatus: 502, retryAfter: nil, body: []))
                == [
                    "warning: production answers with HTTP 502, without an error of Apple's; workers wait for Apple, "
                        + "if it is not this host that cannot reach it"
                ])
        #expect(
            try result(.failed(.tls)) == [
                "failed: production: no answer: the TLS connection failed, or its certificate is not trusted "
                    + "(GRANTOR_APPLE_CA_FILE)"
            ])
    }
}
