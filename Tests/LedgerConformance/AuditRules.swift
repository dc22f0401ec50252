import Contract
import Cryptography
import Ledger

extension LedgerConformance {
    static let auditRules: [ConformanceRule] = [
        ConformanceRule("An audit reads each row of each table once, in the order of writing, page by page") {
            subject in
            try subject.own()
            for number in 1...5 {
                let id = "\(number)"
                let offset = Int64(10 * number)
                let transaction = TransactionID(id)
                try subject.write(
                    Samples.grant(
                        Samples.submission(SubmissionID("s" + id), offset: offset), Samples.purchase(transaction)))
                try subject.write(Samples.fail(Samples.submission(SubmissionID("f" + id), offset: offset + 1)))
                try subject.write(Samples.wait(Samples.submission(SubmissionID("w" + id), offset: offset + 2)))
                _ = try subject.ledger.owe([
                    OutboxEntry(
                        ownership: Samples.ownership(), key: .failed(Samples.key(SubmissionID("f" + id))), delay: 0,
                        stub: nil)
                ])
            }
            for table in AuditedTable.allCases {
                for limit in [1, 2, 5, 100] {
                    var rows: [AuditedRow] = []
                    while true {
                        let page = try subject.ledger.audited(
                            table, after: rows.last?.sequence ?? .min, limit: limit)
                        try expect(page.count <= limit, "a page of \(limit)")
                        guard !page.isEmpty else { break }
                        rows += page
                    }
                    try expect(rows.map(\.names), (1...5).map { "\(table) \($0)" }, "rows in pages of \(limit)")
                    try expect(rows.map(\.sequence), rows.map(\.sequence).sorted(), "sequences")
                }
            }
        },
        ConformanceRule("An audit reads a grant as it was told, and a repeat with the grant that answers it") {
            subject in
            try subject.own()
            let told = try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))[0]
            try subject.write(Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1")))
            guard case .grant(let grant)? = try subject.ledger.audited(.grants, after: .min, limit: 9).first?.content
            else { throw Violation(description: "no grant") }
            try expect([GrantedEvent.event(of: grant)], told.events, "the event")
            guard
                case .repeated(let repeated, let holder)? =
                    try subject.ledger.audited(.answers, after: .min, limit: 9).first?.content
            else { throw Violation(description: "no repeat") }
            try expect(repeated.grant, Samples.reference("1"), "the grant that answers")
            try expect(holder, .there(grant.claimant), "its row")
        },
        ConformanceRule("A repair owes what the outbox does not, once, with its note") { subject in
            try subject.own()
            let granted = try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))[0]
            let failed = try subject.write(Samples.fail(Samples.submission("s2", offset: 8)))[0]
            let stub = QuarantineStub(
                origin: Origin(topic: Samples.partition.topic, partition: 3, offset: 9), reason: "no JSON",
                timestamp: Samples.noon, digest: SHA256.hash([1]), size: 1)
            let untold: [UntoldEvent] = [
                .event(.granted(Samples.reference("1"), repeatOf: nil)), .event(.failed(Samples.key("s2"))),
                .record(stub),
            ]
            let note = OperatorNote(actor: "anna", reason: "lost", at: Samples.noon)
            try expect(try subject.ledger.repair([untold[0]], note), 1, "one event")
            try expect(try subject.ledger.repair(untold, note), 2, "those that were not owed")
            try expect(try subject.ledger.repair(untold, note), 0, "those that were not owed any more")
            try expect(
                Set(try subject.drain()), Set(granted.events + failed.events + [QuarantinedEvent.event(of: stub)]),
                "events")
            try expect(
                try subject.ledger.actions(on: nil).map { "\($0.kind) \($0.note.reason)" },
                ["repair 1 event: lost", "repair 2 events: lost"], "actions")
        },
    ]
}

extension AuditedRow {
    /// The table and the number of the sample.
    fileprivate var names: String {
        switch content {
        case .grant(let grant): "grants \(grant.transactionID)"
        case .failure(let failure): "answers \(failure.claimant.submissionID.rawValue.dropFirst())"
        case .waiting(let key): "retries \(key.submissionID.rawValue.dropFirst())"
        case .owed(let row):
            if case .failed(let key) = row.key { "outbox \(key.submissionID.rawValue.dropFirst())" } else { "another" }
        case .repeated, .later: "another"
        }
    }
}
