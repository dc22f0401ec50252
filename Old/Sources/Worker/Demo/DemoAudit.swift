import Audit
import Ledger
import Purchases

/// The demo's judgement of itself: what came out against what was submitted, and ledger and topics against each other.
struct DemoAudit {
    /// A statement and whether it holds.
    struct Finding {
        let statement: String
        let holds: Bool
    }

    let findings: [Finding]

    var passed: Bool { findings.allSatisfy(\.holds) }

    /// Judges by what the topics hold, and by the ledger where it can be asked.
    init(
        submissions: [WorkloadSubmission], answers: DemoAnswers, ledger: (counts: LedgerCounts, report: AuditReport)?
    ) {
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
        if let ledger {
            let settled = ledger.counts.submissions.values.reduce(0, +)
            findings.append(
                Finding(
                    statement: "every submission id has one row in the ledger (\(settled))",
                    holds: settled == Set(submissions.compactMap(\.submissionID)).count
                        && ledger.counts.submissions[.held] ?? 0 == 0))
            findings += Self.findings(ledger.report)
        }
        self.findings = findings
    }

    /// What `grantor audit --drained` says of the demo's ledger and topics: one line if all holds, else what does not.
    private static func findings(_ report: AuditReport) -> [Finding] {
        let judged = report.findings.filter { $0.verdict == .holds || $0.verdict == .violated }
        let held = judged.filter { $0.verdict == .holds }.count
        return [
            Finding(
                statement:
                    "ledger and topics agree with each other (\(held) of \(judged.count) statements of grantor audit)",
                holds: report.passed)
        ]
            + judged.filter { $0.verdict == .violated }.map { finding in
                Finding(
                    statement: "\(finding.invariant) \(finding.invariant.statement) "
                        + finding.examples.joined(separator: "; "), holds: false)
            }
    }
}
