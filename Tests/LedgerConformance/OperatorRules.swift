import Contract
import Ledger

extension LedgerConformance {
    static let operatorRules: [ConformanceRule] = [
        ConformanceRule("Workers are listed by name, with whether they live; one that signs off is listed no more") {
            subject in
            let signs = [7, -8].map { WorkerSign(id: $0, name: "host/\($0)", version: "1.\($0)") }
            for sign in signs { _ = try subject.ledger.measure(as: sign) }
            subject.setClock(Samples.later(WorkerSign.mostSilence))
            _ = try subject.ledger.measure(as: signs[0])
            let silent = WorkerRow(
                name: "host/-8", version: "1.-8", startedAt: Samples.later(0), seenAt: Samples.later(0), isLive: false)
            let live = WorkerRow(
                name: "host/7", version: "1.7", startedAt: Samples.later(0),
                seenAt: Samples.later(WorkerSign.mostSilence), isLive: true)
            try expect(try subject.other.workers(), [silent, live], "all")
            try subject.ledger.signOff(signs[1])
            try expect(try subject.other.workers(), [live], "the one that is left")
        },
        ConformanceRule("An operator's act beside the ledger is written down about all of it") { subject in
            let note = OperatorNote(actor: "kim", reason: "receipts.quarantined/1/40: mended", at: Samples.noon)
            try subject.ledger.note(.resubmit, note)
            try expect(
                try subject.other.actions(on: nil), [OperatorAction(kind: .resubmit, note: note, submission: nil)],
                "the ledger's")
        },
    ]
}
