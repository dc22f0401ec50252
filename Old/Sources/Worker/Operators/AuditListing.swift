import Audit

/// An audit's report, for people and as JSON.
struct AuditListing: Sendable {
    let report: AuditReport

    func text(width: Int?) -> String {
        let table = TextTable(
            header: ["", "RESULT", "CHECKED", "GONE", "VIOLATIONS", "STATEMENT"],
            rows: report.findings.map { finding in
                [
                    finding.invariant.rawValue, finding.verdict.rawValue, String(finding.checked), String(finding.gone),
                    String(finding.violations), finding.invariant.statement,
                ]
            })
        return table.text(maxWidth: width) + details + "\n\(readLine)\n\(summary)\n"
    }

    /// Examples and notes, in full: their ids are there to be copied.
    private var details: String {
        var text = ""
        for finding in report.findings {
            let more = finding.violations - finding.examples.count
            let lines = finding.examples + (more > 0 ? ["and \(more) more"] : []) + [finding.note].compactMap { $0 }
            for line in lines { text += "\n\(finding.invariant): \(PrintableText.singleLine(line))" }
        }
        return text.isEmpty ? "" : text + "\n"
    }

    private var readLine: String {
        let read = report.read
        return
            "Read \(read.submitted) submitted and \(read.published) published records, \(read.submissions) submissions "
            + "(\(read.parked) parked, \(read.held) held), \(read.grants) grants, "
            + "\(read.quarantined) quarantined records and \(read.events) events."
    }

    private var summary: String {
        let violated = report.violated.map(\.rawValue)
        guard violated.isEmpty else { return "NOT EVERYTHING HOLDS: \(violated.joined(separator: ", "))" }
        let silent = report.findings.filter { $0.verdict == .notApplicable }.map(\.invariant.rawValue)
        guard silent.isEmpty else {
            return "Nothing is violated, but nothing can be said of \(silent.joined(separator: ", ")): see above."
        }
        return report.drained
            ? "Everything holds." : "Everything holds that must hold while workers run; --drained asks for the rest."
    }

    var json: JSON { JSON(report) }

    struct JSON: Encodable {
        struct FindingJSON: Encodable {
            let invariant, statement, result: String
            let checked, gone, violations: Int
            let examples: [String]
            let note: String?
        }

        struct ReadJSON: Encodable {
            let submittedRecords, publishedRecords, submissions, parked, held, grants, quarantined, events: Int
        }

        let drained, passed: Bool
        let read: ReadJSON
        let findings: [FindingJSON]

        init(_ report: AuditReport) {
            drained = report.drained
            passed = report.passed
            read = ReadJSON(
                submittedRecords: report.read.submitted, publishedRecords: report.read.published,
                submissions: report.read.submissions, parked: report.read.parked,
                held: report.read.held, grants: report.read.grants, quarantined: report.read.quarantined,
                events: report.read.events)
            findings = report.findings.map {
                FindingJSON(
                    invariant: $0.invariant.rawValue, statement: $0.invariant.statement, result: $0.verdict.rawValue,
                    checked: $0.checked, gone: $0.gone, violations: $0.violations, examples: $0.examples, note: $0.note)
            }
        }
    }
}
