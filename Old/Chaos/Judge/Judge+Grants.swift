import AppStoreSimulator
import Ledger
import Purchases

extension Judge {
    func grants() -> [Violation] {
        var wrong: [Violation] = []
        var claims: [TransactionID: [Claim]] = [:]
        for claim in submitted.map(\.claim) where claim.expectation == .granted {
            for transaction in claim.transactions { claims[transaction, default: []].append(claim) }
        }
        for (transaction, claims) in claims.sorted(by: { $0.key < $1.key }) {
            let rows = holders[transaction] ?? []
            guard let row = rows.first, rows.count == 1 else {
                wrong.append(Violation(rule: .granted, detail: "\(transaction) has \(rows.count) grants"))
                continue
            }
            if let difference = difference(row, claims) {
                wrong.append(Violation(rule: .granted, detail: "\(transaction): \(difference)"))
            }
        }
        for transaction in holders.keys.sorted() where claims[transaction] == nil {
            wrong.append(Violation(rule: .nothingElse, detail: "\(transaction)"))
        }
        return wrong
    }

    /// In what a grant is not as it must be; nil if it is.
    private func difference(_ row: GrantRow, _ claims: [Claim]) -> String? {
        let bought = claims.lazy.flatMap(\.bought).first {
            $0.purchase.transactionID == row.granted.purchase.transactionID
        }
        guard let bought else { return "nobody bought it" }
        let granted = row.granted.purchase
        if !claims.contains(where: { $0.userID == row.claimant.userID && $0.submissionID == row.claimant.submissionID })
        {
            return "granted to \(row.claimant.userID) for \(row.claimant.submissionID), who did not claim it"
        }
        if granted.productID != bought.purchase.productID { return "granted as \(granted.productID)" }
        if granted.quantity != bought.purchase.quantity { return "granted \(granted.quantity) times" }
        if granted.environment != bought.environment { return "granted in \(granted.environment.rawValue)" }
        let unit = Catalogue.items[bought.purchase.productID]
        let items = unit.map { [Item(item: $0.item, quantity: $0.quantity * bought.purchase.quantity)] }
        return row.granted.items == items ? nil : "granted \(row.granted.items)"
    }
}
