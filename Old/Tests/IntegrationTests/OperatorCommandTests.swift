import Foundation
import Ledger
import Purchases
import SystemTesting
import Testing

extension IntegrationTests {
    /// `grantor submissions` and `grantor grants` as a person uses them: processes of their own, on either ledger.
    @Suite("Operators' commands")
    struct OperatorCommandTests {
        private struct Listing: Decodable {
            struct Row: Decodable {
                let submissionId: String
            }
            let submissions: [Row]
            let next: Int64?

            var ids: [String] { submissions.map(\.submissionId) }
        }

        private struct Story: Decodable {
            struct Submission: Decodable {
                struct Submission: Decodable {
                    struct Attempt: Decodable {
                        let cause: String
                    }
                    let outcome: String
                    let reason: String?
                    let detail: String?
                    let attempts: Int
                    let history: [Attempt]
                }
                struct Event: Decodable {
                    let topic, state: String
                }
                struct Action: Decodable {
                    let action, actor, reason: String
                }
                let submission: Submission
                let events: [Event]
                let actions: [Action]
                let nextTryAt: String?
            }
            let submissions: [Submission]
        }

        static let ledgers = ["SQLite", "PostgreSQL"]

        private func operators(_ ledger: String) async throws -> Operators {
            let folder = try TemporaryFolder()
            let url: String
            if ledger == "PostgreSQL" {
                url = try await Stage.makeDatabase()
                let ledger = try await PostgresLedger.open(
                    try #require(PostgresLedgerConfiguration(url: url)), logger: .silent)
                try await KnownSubmissions.settle(in: ledger)
                await ledger.close()
            } else {
                let path = folder.url.appending(path: "ledger.db").path
                url = "sqlite:\(path)"
                let ledger = try await SQLiteLedger.open(
                    SQLiteLedgerConfiguration(path: path, migrate: true), logger: .silent)
                try await KnownSubmissions.settle(in: ledger)
                try await ledger.close()
            }
            return Operators(environment: ["GRANTOR_LEDGER_URL": url], folder: folder)
        }

        /// What a line must list, the latest first.
        static let lists: [(line: String, ids: [String])] = [
            ("", ["s-twice", "s-twice", "s-held", "s-limited", "s-parked", "s-failed", "s-granted"]),
            ("--state granted", ["s-granted"]),
            ("--state parked", ["s-limited", "s-parked"]),
            ("--outcome held --app com.example.other", ["s-twice", "s-held"]),
            ("--cause noAnswer", ["s-parked"]),
            ("--cause receipt_not_authentic", ["s-failed"]),
            ("--cause sharedSecretRefused", ["s-twice", "s-twice", "s-held"]),
            ("--user u-3", ["s-held", "s-parked"]),
            ("--order o-1", ["s-granted"]),
            ("--transaction 2001", ["s-granted"]),
            ("--transaction 2003", ["s-parked"]),
            ("--older-than 1h", ["s-held", "s-parked", "s-failed"]),
            ("--older-than 1d", ["s-held"]),
            ("--state parked --user u-3 --older-than 30m", ["s-parked"]),
            ("--user nobody", []),
            ("--cause incompleteAnswer", []),
        ]

        @Test("Every filter lists what it names, for people and as JSON, page by page", arguments: ledgers)
        func list(ledger: String) async throws {
            let operators = try await operators(ledger)
            for (line, ids) in Self.lists {
                let json = try await operators.run("submissions list --json \(line)")
                #expect(json.exit == .code(0))
                #expect(try json.json(Listing.self).ids == ids, "\(line)")
                let text = try await operators.run("submissions list \(line)")
                #expect(text.exit == .code(0))
                guard !ids.isEmpty else {
                    #expect(text.output == "No submissions found.\n")
                    continue
                }
                #expect(text.lines.first?.hasPrefix("SUBMISSION") == true)
                #expect(text.lines.dropFirst().map { String($0.prefix { $0 != " " }) } == ids, "\(line)")
            }

            var seen: [String] = []
            var before: Int64?
            repeat {
                let page = try await operators.run(
                    "submissions list --json --limit 3\(before.map { " --before \($0)" } ?? "")"
                ).json(Listing.self)
                #expect(page.submissions.count <= 3)
                seen += page.ids
                before = page.next
            } while before != nil
            #expect(seen == Self.lists[0].ids)
            let page = try await operators.run("submissions list --limit 3")
            #expect(page.lines.last?.hasPrefix("More: --before ") == true)
        }

        @Test("What is shown of one: tries, verdict, grant, events, and what people did", arguments: ledgers)
        func show(ledger: String) async throws {
            let operators = try await operators(ledger)
            let granted = try await operators.run("submissions show s-granted")
            #expect(granted.exit == .code(0))
            for part in [
                "Submission s-granted", "The purchase is the user's", "order     o-1", "Grant ",
                "gives        100 gems",
                "transaction  2001, production", "Event ", "not published yet",
            ] {
                #expect(granted.output.contains(part), "\(part) in \(granted.output)")
            }

            let parked = try await operators.run("submissions show s-parked")
            for part in [
                "Apple cannot tell, and is asked again at ", "Tries that decided nothing", "noAnswer: HTTP 503.",
                "unreachable: Nothing was heard from Apple.",
            ] {
                #expect(parked.output.contains(part), "\(part) in \(parked.output)")
            }
            #expect(!parked.output.contains(KnownSubmissions.evidence), "no evidence is shown")
            let json = try await operators.run("submissions show s-parked --json")
            #expect(!json.output.contains(KnownSubmissions.evidence))
            let story = try #require(try json.json(Story.self).submissions.first)
            #expect(story.submission.history.map(\.cause) == ["unreachable", "noAnswer"])
            #expect(story.nextTryAt != nil)

            let both = try await operators.run("submissions show s-twice")
            #expect(both.output.contains("com.example.game") && both.output.contains("com.example.other"))
            let one = try await operators.run("submissions show s-twice --app com.example.other")
            #expect(!one.output.contains("com.example.game"))
        }

        @Test("Grants are found by what people know of them", arguments: ledgers)
        func grants(ledger: String) async throws {
            let operators = try await operators(ledger)
            for line in ["2001", "--transaction 2001", "--user u-1", "--app com.example.game", "2001 --user u-1"] {
                let said = try await operators.run("grants show \(line)")
                #expect(said.exit == .code(0))
                #expect(said.lines.count == 2 && said.output.contains("100 gems"), "\(line): \(said.output)")
            }
            for line in ["2002", "--user u-2", "00000000-0000-5000-8000-000000000000"] {
                let said = try await operators.run("grants show \(line)")
                #expect(said.exit == .code(1))
                #expect(said.errors == "grantor: no grants found\n")
            }
        }

        private static let named = #"--actor ann --reason "Apple mended it.""#

        /// What cannot be done, how it ends, and the first line of what is said.
        static let refusals: [(line: String, code: Int32, says: String)] = [
            ("show s-none", 1, #"grantor: no submission "s-none" in the ledger"#),
            (
                "show s-held --app com.example.game", 1,
                #"grantor: no submission "s-held" of app "com.example.game" in the ledger"#
            ),
            ("retry s-none \(named)", 1, #"grantor: no submission "s-none" in the ledger"#),
            ("abandon s-none \(named)", 1, #"grantor: no submission "s-none" in the ledger"#),
            (
                "retry s-granted \(named)", 1,
                #"grantor: submission "s-granted" of app "com.example.game" is granted; there is nothing to try again"#
            ),
            (
                "retry s-failed \(named)", 1,
                #"grantor: submission "s-failed" of app "com.example.game" has failed, and a failure stands; "#
                    + "there is nothing to try again"
            ),
            (
                "abandon s-granted \(named)", 1,
                #"grantor: submission "s-granted" of app "com.example.game" is granted already; "#
                    + "only what waits can be given up"
            ),
            (
                "abandon s-failed \(named)", 1,
                #"grantor: submission "s-failed" of app "com.example.game" is failed already; "#
                    + "only what waits can be given up"
            ),
            ("retry s-twice \(named)", 1, #"grantor: several apps have a submission "s-twice"; name one with --app"#),
            ("retry --cause evidenceNotSupported \(named)", 1, "grantor: no submission waits for evidenceNotSupported"),
            ("abandon s-parked --actor ann", 64, "Error: Missing expected argument '--reason <reason>'"),
            (
                #"abandon s-parked --actor ann --reason "  ""#, 64,
                "Error: --reason must say why, in at most 500 characters"
            ),
            (
                #"abandon s-parked --actor "" --reason "No use.""#, 64,
                "Error: --actor must name a person, in at most 128 characters"
            ),
            (#"retry s-parked --reason "Why not.""#, 64, "Error: Missing expected argument '--actor <actor>'"),
            ("retry \(named)", 64, "Error: give either an id or --cause"),
            ("retry s-parked --cause noAnswer \(named)", 64, "Error: give either an id or --cause"),
            (
                "retry --cause noAnswer --per-second 0 \(named)", 64,
                "Error: --per-second must be at least 0.01 and at most 1000"
            ),
            (
                "retry --cause weather \(named)", 64,
                #"Error: no submission waits for "weather"; causes are unreachable, "#
            ),
            (
                "list --cause nonsense", 64,
                #"Error: nothing fails or waits for "nonsense"; causes are malformed_submission, "#
            ),
            ("list --older-than soon", 64, "grantor: --older-than takes a duration such as 30m, 2h or 3d"),
            ("list --state lost", 64, "Error: The value 'lost' is invalid for '--state <state>'."),
        ]

        @Test(
            "What cannot be done is said in one clear line, changes nothing, and has its exit code", arguments: ledgers)
        func refusals(ledger: String) async throws {
            let operators = try await operators(ledger)
            let before = try await operators.run("submissions list --json").output
            for (line, code, says) in Self.refusals {
                let said = try await operators.run("submissions \(line)")
                #expect(said.exit == .code(code), "\(line)")
                #expect(said.output.isEmpty, "\(line)")
                #expect(said.errors.hasPrefix(says), "\(line): \(said.errors)")
                if code == 1 { #expect(said.errors.count { $0 == "\n" } == 1, "\(line): \(said.errors)") }
            }
            #expect(try await operators.run("submissions list --json").output == before)
            let story = try await operators.run("submissions show s-parked --json").json(Story.self)
            #expect(story.submissions.first?.actions.isEmpty == true)
        }

        @Test("What people change stands in the ledger with their names, once", arguments: ledgers)
        func changes(ledger: String) async throws {
            let operators = try await operators(ledger)
            let retried = try await operators.run("submissions retry s-parked \(Self.named)")
            #expect(retried.exit == .code(0))
            #expect(
                retried.output
                    == "Submission \"s-parked\" of app \"com.example.game\" is due now; a worker tries it within seconds.\n"
            )
            let all = try await operators.run(
                "submissions retry --cause sharedSecretRefused --app com.example.other --per-second 0.5 \(Self.named)")
            #expect(all.output == "2 submissions come due within 4 s, the oldest first.\n")

            // Two people at once: one gives it up, the other is told so.
            async let first = operators.run(
                "submissions abandon s-limited --actor ann --reason \"The player was refunded.\"")
            async let second = operators.run(
                "submissions abandon s-limited --actor ben --reason \"The player was refunded.\"")
            let said = try await [first, second]
            #expect(Set(said.map(\.exit)) == [.code(0), .code(1)])
            let loser = try #require(said.first { $0.exit == .code(1) })
            #expect(loser.errors.contains("is failed already; only what waits can be given up"))

            let abandoned = try await operators.run("submissions abandon s-parked --json \(Self.named)")
            #expect(abandoned.exit == .code(0))
            let story = try #require(
                try await operators.run("submissions show s-parked --json").json(Story.self).submissions.first)
            #expect(story.submission.outcome == "failed")
            #expect(story.submission.reason == "abandoned_by_operator")
            #expect(story.submission.detail == "Apple mended it.")
            #expect(story.submission.attempts == 2)
            #expect(story.submission.history.map(\.cause) == ["unreachable", "noAnswer"])
            #expect(story.events.map(\.topic) == ["failed"])
            #expect(story.actions.map(\.action) == ["retry", "abandon"])
            #expect(story.actions.map(\.actor) == ["ann", "ann"])
            #expect(story.nextTryAt == nil)
            let text = try await operators.run("submissions show s-parked")
            #expect(text.output.contains("What people did") && text.output.contains("abandon by ann: Apple mended it."))
        }
    }
}

/// Submissions with every outcome, as a ledger has them after some days.
private enum KnownSubmissions {
    static let evidence = "bm8tb25lLW1heS1zZWUtdGhpcw=="

    static func settle(in ledger: some LedgerStore) async throws {
        let now = Timestamp.present
        let purchase = Purchase(
            transactionID: "2001", originalTransactionID: "2001", productID: Catalogue.gems, environment: .production,
            purchasedAt: now.advanced(by: .seconds(-900)))
        let grant = Decision.grant(
            [GrantablePurchase(purchase: purchase, type: .consumable, items: [Item(item: "gems", quantity: 100)])],
            by: .verifyReceipt)
        let history = [
            Attempt(at: now, cause: "unreachable", detail: "Nothing was heard from Apple."),
            Attempt(at: now, cause: "noAnswer", detail: "HTTP 503."),
        ]
        let all = [
            settlement("s-granted", "u-1", order: "o-1", minutesAgo: 10, now, grant),
            settlement(
                "s-failed", "u-2", minutesAgo: 180, now,
                .fail(Rejection(.receiptNotAuthentic, "It is not authentic."))),
            settlement(
                "s-parked", "u-3", order: "o-3", minutesAgo: 180, now, history: history,
                waiting("s-parked", .parked(.noAnswer), transaction: "2003")),
            settlement("s-limited", "u-4", minutesAgo: 1, now, waiting("s-limited", .parked(.rateLimited))),
            settlement("s-held", "u-3", other, minutesAgo: 2 * 1440, now, held("s-held", other)),
            settlement("s-twice", "u-5", minutesAgo: 1, now, held("s-twice")),
            settlement("s-twice", "u-5", other, minutesAgo: 1, now, held("s-twice", other)),
        ]
        // One after the other: their order is what lists show.
        for settlement in all { _ = try await ledger.settle([settlement], quarantines: [], now: now) }
    }

    private static let other: BundleID = "com.example.other"

    private static func held(_ id: SubmissionID, _ bundleID: BundleID = Catalogue.bundleID) -> Decision {
        waiting(id, .held(.sharedSecretRefused), of: bundleID)
    }

    private static func waiting(
        _ id: SubmissionID, _ cause: WaitingCause, of bundleID: BundleID = Catalogue.bundleID,
        transaction: TransactionID? = nil
    ) -> Decision {
        .wait(
            Waiting(
                cause, detail: "It waits.",
                submission: Submission(
                    id: id, userID: "u-3", bundleID: bundleID, evidence: .receipt(base64: EvidenceText(evidence)),
                    transactionID: transaction),
                delay: .seconds(3600)))
    }

    private static func settlement(
        _ id: SubmissionID, _ user: UserID, _ bundleID: BundleID = Catalogue.bundleID, order: OrderID? = nil,
        minutesAgo: Int, _ now: Timestamp, history: [Attempt] = [], _ decision: Decision
    ) -> Settlement {
        Settlement(
            claimant: Claimant(submissionID: id, userID: user, bundleID: bundleID, orderID: order), fingerprint: "f",
            origin: Origin(topic: Topic.submitted, partition: 0, offset: 1),
            receivedAt: now.advanced(by: .seconds(-60 * minutesAgo)), attempts: 2, history: AttemptHistory(history),
            decision: decision)
    }
}
