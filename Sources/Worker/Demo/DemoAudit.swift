import Ledger
import Purchases

/// The demo's judgement of itself: ledger and topics against what was submitted.
struct DemoAudit {
    /// A statement and whether it holds.
    struct Finding {
        let statement: String
        let holds: Bool
    }

    let findings: [Finding]

    var passed: Bool { findings.allSatisfy(\.holds) }

    /// Judges by what the topics hold, and by the ledger where it can be asked.
    init(submissions: [WorkloadSubmission], answers: DemoAnswers, counts: LedgerCounts?) {
        let right = submissions.filter { answers.answers($0) }.count
        let unreadable = submissions.filter { $0.expectation == .quarantined }.count
        var findings = [
            Finding(
                statement: "every submission has the answer it must have (\(right) of \(submissions.count))",
                holds: right == submissions.count),
            Finding(
                statement:
                    "one event id per purchase (\(answers.distinctGrants) events, \(answers.grants.count) purchases)",
                holds: answers.grants.values.allSatisfy { $0.count == 1 }
                    && answers.distinctGrants == answers.grants.count),
            Finding(
                statement: "copies of an event are the same to the last byte",
                holds: answers.values.values.allSatisfy { $0.count == 1 } && answers.unreadableEvents == 0),
            Finding(
                statement: "every unreadable message is in quarantine, once (\(answers.quarantined))",
                holds: answers.quarantined == unreadable),
        ]
        if let counts { findings += Self.findings(counts, submissions, answers, unreadable: unreadable) }
        self.findings = findings
    }

    private static func findings(
        _ counts: LedgerCounts, _ submissions: [WorkloadSubmission], _ answers: DemoAnswers, unreadable: Int
    ) -> [Finding] {
        let identifiers = Set(submissions.compactMap(\.submissionID)).count
        let settled = counts.submissions.values.reduce(0, +)
        return [
            Finding(
                statement: "ledger and topics agree on grants (\(counts.grants))",
                holds: counts.grants == answers.distinctGrants),
            Finding(
                statement: "ledger and topics agree on failures (\(answers.failedSubmissions.count))",
                holds: counts.submissions[.failed] ?? 0 == answers.failedSubmissions.count),
            Finding(
                statement: "every submission id has one row in the ledger (\(settled))",
                holds: settled == identifiers && counts.submissions[.held] ?? 0 == 0),
            Finding(statement: "the ledger has every unreadable message", holds: counts.quarantined == unreadable),
            Finding(statement: "nothing is left unpublished", holds: counts.unpublished == 0),
        ]
    }
}
