public import LedgerModel

/// A ledger that goes through the same random calls as the model, and must answer alike.
public enum RandomComparison {
    static let steps = 200

    /// - Throws: ``Violation`` at the first answer that differs, or where their content does in the end.
    public static func check(_ subject: ConformanceSubject, seed: UInt64) throws {
        let model = LedgerModel(now: Samples.noon).subject
        try subject.own()
        try model.own()
        var plays = [RandomPlay(seed: seed), RandomPlay(seed: seed)]
        for step in 0..<steps {
            let found = try plays[0].step(subject)
            try expect(found, try plays[1].step(model), "seed \(seed), step \(step)")
        }
        try expect(try LedgerContent(of: subject.ledger), try LedgerContent(of: model.ledger), "seed \(seed), content")
    }
}

extension LedgerModel {
    /// The model as the suite uses a ledger.
    public var subject: ConformanceSubject {
        ConformanceSubject(ledger: connection(), other: connection(), setClock: { self.now = $0 })
    }
}
