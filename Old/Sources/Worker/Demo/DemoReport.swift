import Purchases

/// The demo's result for people: what was submitted, what became of it, and whether it is right.
struct DemoReport {
    let text: String

    init(result: DemoResult, took: Duration) {
        var lines = ["", "submitted                                    count  answered as it must be"]
        var kinds: [String] = []
        for submission in result.submissions where !kinds.contains(submission.kind) { kinds.append(submission.kind) }
        for kind in kinds {
            let all = result.submissions.filter { $0.kind == kind }
            let right = all.filter { result.answers.answers($0) }.count
            lines.append("  " + Self.cell(kind, 40) + Self.number(all.count, 8) + Self.number(right, 8))
        }
        lines.append("")
        lines.append(Self.total("submitted", result.submissions.count))
        lines.append(Self.total("granted (distinct purchases)", result.answers.distinctGrants))
        for (proof, count) in result.answers.proofs.sorted(by: { $0.key < $1.key }) {
            lines.append(Self.total("  verified by " + proof, count))
        }
        lines.append(Self.total("failed", result.answers.failedSubmissions.count))
        for (reason, count) in result.answers.failures.sorted(by: { $0.key < $1.key }) {
            lines.append(Self.total("  " + reason, count))
        }
        lines.append(Self.total("quarantined", result.answers.quarantined))
        if let faults = result.faultsPlayed { lines.append(Self.total("retried (calls that Apple failed)", faults)) }
        lines.append(
            Self.total(
                "duplicates answered, not granted again",
                result.submissions.filter { $0.isRepeat && result.answers.answers($0) }.count))
        lines.append(Self.total("event copies published", result.answers.total))
        lines.append("")
        for finding in result.audit.findings {
            lines.append("  \(finding.holds ? "ok    " : "WRONG ") \(finding.statement)")
        }
        let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
        lines.append("")
        lines.append(
            "\(result.audit.passed ? "Everything came out as it must" : "Something is wrong") after "
                + String(Int(seconds.rounded())) + " s.")
        text = lines.joined(separator: "\n")
    }

    private static func total(_ name: String, _ count: Int) -> String {
        "  " + cell(name, 40) + number(count, 8)
    }

    private static func cell(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func number(_ value: Int, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
