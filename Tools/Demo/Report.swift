import Contract

/// The demo's result: the submissions, their answers, and whether these are right.
struct Report {
    /// A statement and whether it holds.
    struct Finding {
        let statement: String
        let holds: Bool

        init(_ statement: String, _ holds: Bool) {
            self.statement = statement
            self.holds = holds
        }
    }

    let findings: [Finding]
    private let submissions: [DemoSubmission]
    private let answers: Answers

    var passed: Bool { findings.allSatisfy(\.holds) }

    init(scenario: Scenario, answers: Answers, ledger: LedgerContent, stoppedInOrder: Bool) {
        submissions = scenario.all
        self.answers = answers
        let right = submissions.count { answers.hold($0) }
        let unreadable = submissions.count { $0.expectation == .quarantined }
        let once = scenario.paid.count { ledger.grants[$0.key] == [$0.value] }
        let told = scenario.paid.count { answers.grants[$0.key]?.count == 1 }
        let unpaid = Set(ledger.grants.keys).union(answers.grants.keys).subtracting(scenario.paid.keys)
        findings = [
            Finding(
                "each paid purchase was granted exactly once, to the user who paid (\(once) of \(scenario.paid.count))",
                once == scenario.paid.count),
            Finding(
                "each grant was told under one event id (\(told) of \(scenario.paid.count))",
                told == scenario.paid.count && answers.granted == told),
            Finding("nothing was granted that nobody paid for (\(unpaid.count) found)", unpaid.isEmpty),
            Finding(
                "every submission has the answer it must have (\(right) of \(submissions.count))",
                right == submissions.count),
            Finding(
                "every event is one of its topic's (\(answers.unreadable) of \(answers.records) are not)",
                answers.unreadable == 0),
            Finding("all copies of an event are the same to the last byte", answers.copiesAreEqual),
            Finding(
                "every unreadable message is in quarantine, under one id (\(answers.quarantined) of \(unreadable))",
                answers.quarantined == unreadable),
            Finding(
                "the ledger has a row for each failure, and nothing waits or is owed (\(ledger.failed) failures)",
                ledger.failed == answers.failures.count && ledger.waiting == 0 && ledger.owed == 0),
            Finding("each worker stopped in order", stoppedInOrder),
        ]
    }

    func text(took: Duration) -> String {
        var lines = ["", Self.cell("submitted", 42) + Self.number("count", 8) + "  answered as it must be"]
        var kinds: [String] = []
        for submission in submissions where !kinds.contains(submission.kind) { kinds.append(submission.kind) }
        for kind in kinds.sorted() {
            let all = submissions.filter { $0.kind == kind }
            lines.append(
                Self.cell("  " + kind, 42) + Self.number("\(all.count)", 8)
                    + Self.number("\(all.count { answers.hold($0) })", 8))
        }
        lines += ["", Self.total("submitted", submissions.count)]
        lines.append(Self.total("granted (purchases)", answers.granted))
        for (proof, count) in answers.proofs.sorted(by: { $0.key < $1.key }) {
            lines.append(Self.total("  verified by " + proof, count))
        }
        if !answers.pending.isEmpty { lines.append(Self.total("told to wait meanwhile", answers.pending.count)) }
        lines.append(Self.total("failed (submissions)", answers.failures.count))
        let reasons = Dictionary(grouping: answers.failures.values) { $0 }.mapValues(\.count)
        for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) {
            lines.append(Self.total("  " + reason, count))
        }
        lines.append(Self.total("quarantined", answers.quarantined))
        lines += [Self.total("records told, copies included", answers.records), ""]
        lines += findings.map { "  \($0.holds ? "ok    " : "WRONG ") \($0.statement)" }
        let good = "Everything came out as it must after \(took.components.seconds) s."
        lines += ["", passed ? good : "Not everything came out as it must."]
        return lines.joined(separator: "\n")
    }

    private static func total(_ name: String, _ count: Int) -> String { cell("  " + name, 42) + number("\(count)", 8) }

    private static func cell(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func number(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
