import Ledger
import Purchases

extension LedgerConformance {
    static let readerRules: [ConformanceRule] = [
        ConformanceRule("a submission's row tells all that was settled") { ledger in
            let settlement = Samples.settlement(
                "s1", user: "alice", order: "o1", offset: 42, .fail(Rejection(.bundleMismatch, "Another app's.")))
            try await Subject(ledger).settle(settlement)
            let row = try await Subject(ledger).row("s1")
            try expect(row?.claimant, settlement.claimant, "claimant")
            try expect(row?.origin, settlement.origin, "origin")
            try expect(row?.receivedAt, settlement.receivedAt, "received")
            try expect(row?.settledAt, Samples.noon, "settled")
            try expect(row?.attempts, 1, "attempts")
        },
        ConformanceRule("a grant's row tells all that was attested") { ledger in
            let purchase = GrantablePurchase(
                purchase: Purchase(
                    transactionID: "2", originalTransactionID: "1", webOrderLineItemID: "9", productID: "vip",
                    quantity: 1, environment: .sandbox, purchasedAt: Timestamp(milliseconds: -5),
                    expiresAt: Timestamp(milliseconds: 7), revokedAt: Timestamp(milliseconds: 8), isUpgraded: true,
                    ownership: .familyShared, appAccountToken: "00000000-0000-4000-8000-000000000000"),
                type: .autoRenewable, items: [Item(item: "vip \"gold\"", quantity: 1), Item(item: "gem", quantity: 5)])
            let settlement = Samples.grant("s1", order: "o1", purchase)
            try await Subject(ledger).settle(settlement)
            let row = try await ledger.grants(GrantFilter(), before: nil, limit: 10).first
            try expect(row?.granted, purchase, "granted")
            try expect(row?.claimant, settlement.claimant, "claimant")
            try expect(row?.key, "sandbox:w:9", "key")
            try expect(row?.grantID, GrantKey(of: purchase).grantID, "id")
            try expect(row?.eventID, Samples.event(purchase), "event")
            try expect(row?.verifiedBy, .verifyReceipt, "verified by")
        },
        ConformanceRule("pages run from the newest to the oldest, each row once") { ledger in
            for index in 1...7 {
                try await Subject(ledger).settle(
                    Samples.grant(SubmissionID("s\(index)"), Samples.purchase(TransactionID("\(index)"))))
            }
            var submissions: [SubmissionID] = []
            var grants: [TransactionID] = []
            var next: (Int64?, Int64?) = (nil, nil)
            for _ in 1...3 {
                let rows = try await ledger.submissions(SubmissionFilter(), before: next.0, limit: 3)
                let page = try await ledger.grants(GrantFilter(), before: next.1, limit: 3)
                submissions += rows.map(\.claimant.submissionID)
                grants += page.map(\.granted.purchase.transactionID)
                next = (rows.last?.sequence, page.last?.sequence)
            }
            try expect(submissions, ["s7", "s6", "s5", "s4", "s3", "s2", "s1"], "submissions")
            try expect(grants, ["7", "6", "5", "4", "3", "2", "1"], "grants")
        },
        ConformanceRule("filters narrow, alone and together") { ledger in
            try await Subject(ledger).settle(
                Samples.grant("s1", user: "alice", order: "o1", Samples.purchase("1")),
                Samples.grant("s2", user: "alice", Samples.purchase("3", original: "2", type: .nonConsumable)),
                Samples.failure("s3", user: "alice"), Samples.failure("s4", user: "bob"), Samples.held("s5"))
            func submissions(_ filter: SubmissionFilter) async throws -> [SubmissionID] {
                try await ledger.submissions(filter, before: nil, limit: 10).map(\.claimant.submissionID)
            }
            try expect(try await submissions(SubmissionFilter(outcome: .failed)), ["s4", "s3"], "failed")
            try expect(try await submissions(SubmissionFilter(outcome: .held)), ["s5"], "held")
            try expect(try await submissions(SubmissionFilter(outcome: .failed, userID: "bob")), ["s4"], "bob's")
            try expect(try await submissions(SubmissionFilter(userID: "alice")), ["s5", "s3", "s2", "s1"], "user")
            try expect(try await submissions(SubmissionFilter(orderID: "o1")), ["s1"], "order")
            try expect(try await submissions(SubmissionFilter(bundleID: "other")), [], "bundle")
            func grants(_ filter: GrantFilter) async throws -> [TransactionID] {
                try await ledger.grants(filter, before: nil, limit: 10).map(\.granted.purchase.transactionID)
            }
            try expect(try await grants(GrantFilter(transactionID: "1")), ["1"], "transaction")
            try expect(try await grants(GrantFilter(transactionID: "2")), ["3"], "original transaction")
            try expect(try await grants(GrantFilter(transactionID: "3")), ["3"], "own transaction")
            try expect(try await grants(GrantFilter(userID: "alice")), ["3", "1"], "user")
            try expect(try await grants(GrantFilter(userID: "bob")), [], "no grants")
            let id = GrantKey(of: Samples.purchase("1")).grantID
            try expect(try await grants(GrantFilter(grantID: id, bundleID: Samples.bundle)), ["1"], "grant and bundle")
        },
        ConformanceRule("counts add up") { ledger in
            try await Subject(ledger).settle(
                Samples.grant("s1", Samples.purchase("1"), Samples.purchase("2")), Samples.failure("s2"),
                Samples.failure("s3", reason: .bundleMismatch), Samples.held("s4"))
            _ = try await ledger.settle([], quarantines: [Samples.quarantine(offset: 0)], now: Samples.noon)
            try await Subject(ledger).publish(through: 1)
            try expect(
                try await ledger.counts(),
                LedgerCounts(
                    submissions: [.granted: 1, .failed: 2, .held: 1],
                    failures: [.receiptNotAuthentic: 1, .bundleMismatch: 1], grants: 2, quarantined: 1, unpublished: 4),
                "counts")
        },
    ]
}
