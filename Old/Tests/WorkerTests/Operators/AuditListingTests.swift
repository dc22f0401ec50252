import Audit
import Testing

@testable import Worker

@Suite("An audit's listing")
struct AuditListingTests {
    private func report(_ findings: [Finding], drained: Bool = true) -> AuditReport {
        AuditReport(drained: drained, read: AuditReport.Read(), findings: findings)
    }

    private let violated = Finding(
        invariant: .grantedOnce, verdict: .violated, checked: 9, gone: 1, violations: 7,
        examples: ["grant a", "grant b\u{1B}[2J"], note: "look\nhere")

    @Test("shows each statement, examples in full, and what is to be known")
    func text() {
        let text = AuditListing(report: report([violated, .init(holds: .oneOwner)])).text(width: 60)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines[1].hasPrefix("I3"))
        #expect(lines[1].contains("violated"))
        #expect(lines.contains("I3: grant a"))
        #expect(lines.contains("I3: grant b\u{FFFD}[2J"), "nothing steers the terminal")
        #expect(lines.contains("I3: and 5 more"))
        #expect(lines.contains("I3: look\u{FFFD}here"))
        #expect(lines.contains("NOT EVERYTHING HOLDS: I3"))
    }

    @Test("says what was not asked")
    func summary() {
        let findings = [Finding(holds: .oneOwner)]
        #expect(AuditListing(report: report(findings)).text(width: nil).hasSuffix("Everything holds.\n"))
        #expect(
            AuditListing(report: report(findings, drained: false)).text(width: nil).hasSuffix(
                "--drained asks for the rest.\n"))
    }

    @Test("does not say that all holds where nothing can be said, and says why")
    func notApplicable() {
        let silent = Finding(
            invariant: .committedHasFate, verdict: .notApplicable, checked: 0, gone: 0, violations: 0, examples: [],
            note: "the group has no offset")
        let text = AuditListing(report: report([silent, .init(holds: .oneOwner)])).text(width: nil)
        #expect(text.contains("\nI1: the group has no offset\n"))
        #expect(text.hasSuffix("\nNothing is violated, but nothing can be said of I1: see above.\n"))
    }

    @Test("says how many submissions wait")
    func waiting() {
        let text = AuditListing(report: report([.init(holds: .oneOwner)])).text(width: nil)
        #expect(text.contains(" 0 submissions (0 parked, 0 held), "))
    }

    @Test("is one JSON object for programs")
    func json() {
        let json = AnswerFormat.json.render(json: AuditListing(report: report([violated])).json) { _ in "" }
        for member in [#""passed" : false"#, #""invariant" : "I3""#, #""result" : "violated""#, #""gone" : 1"#] {
            #expect(json.contains(member))
        }
    }
}

extension Finding {
    fileprivate init(holds invariant: Invariant) {
        self.init(
            invariant: invariant, verdict: .holds, checked: 1, gone: 0, violations: 0, examples: [], note: nil)
    }
}
