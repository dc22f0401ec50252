import Contract
import Ledger

extension LedgerConformance {
    static let grantRules: [ConformanceRule] = [
        ConformanceRule("A new purchase is granted, and its event is made from its row") { subject in
            try subject.own()
            let submission = Samples.submission("s1", order: "o1", traceparent: "00-1-2-01")
            let purchase = Samples.purchase(
                "1001", quantity: 3, payment: Payment(price: 990, currency: "EUR", storefront: "DEU"),
                offer: Offer(kind: .introductory, discountType: .payUpFront))
            let result = try subject.write(Samples.grant(submission, purchase))[0]
            try expect(result.outcome, .granted(created: 1), "outcome")
            let rows = try subject.grantRows()
            let wanted = Grant(
                of: purchase, to: submission, by: .verifyReceipt, attempts: 1, grantedAt: Samples.noon)
            try expect(rows, [wanted], "rows")
            try expect(result.events, [GrantedEvent.event(of: wanted)], "events")
        },
        ConformanceRule("Every value of a grant survives its row") { subject in
            try subject.own()
            let subscription = Product(id: "com.example.pass", type: .autoRenewable, items: [])
            let purchase = Purchase(
                transactionID: "2002", originalTransactionID: "2001", webOrderLineItemID: "77",
                productID: "com.example.pass", quantity: 1,
                environment: .sandbox, purchasedAt: Samples.later(-5), expiresAt: Samples.later(5), revokedAt: nil,
                isUpgraded: false,
                ownership: .familyShared, appAccountToken: nil, type: nil,
                payment: Payment(price: nil, currency: nil, storefront: "FRA"),
                offer: Offer(kind: .trial, discountType: nil))
            let items = [Item(item: "ge:ms,1", quantity: 2), Item(item: "日", quantity: .max)]
            let odd = Product(id: "odd", type: .nonRenewing, items: items)
            guard let granted = GrantablePurchase(purchase, of: subscription) else {
                throw Violation(description: "the sample overflows")
            }
            let first = Samples.submission("s1", user: "Ünïcode \u{1F600}", offset: 1)
            let second = Samples.submission("s2", offset: 2)
            try subject.write(
                Samples.decision(first, .grant([granted], by: .serverAPI), attempts: 4),
                Samples.decision(
                    second, .grant([Samples.purchase("3", original: "2", product: odd)], by: .local), attempts: 0))
            let rows = try subject.grantRows()
            try expect(
                Set(rows),
                [
                    Grant(of: granted, to: first, by: .serverAPI, attempts: 4, grantedAt: Samples.noon),
                    Grant(
                        of: Samples.purchase("3", original: "2", product: odd), to: second, by: .local, attempts: 0,
                        grantedAt: Samples.noon),
                ], "rows")
        },
        ConformanceRule("A decision that is written again with a later time tells the stored one") { subject in
            try subject.own()
            let submission = Samples.submission("s1")
            let first = try subject.write(Samples.grant(submission, Samples.purchase("1")))[0]
            let again = try subject.write(Samples.grant(submission, Samples.purchase("1"), at: 60_000))[0]
            try expect(again.outcome, .redelivery, "outcome")
            try expect(again.events, first.events, "events")
            try expect(try subject.grantRows().count, 1, "rows")
        },
        ConformanceRule("Another user's purchase is refused") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            let thief = Samples.submission("s2", user: "thief", offset: 8)
            let result = try subject.write(Samples.grant(thief, Samples.purchase("1")))[0]
            try expect(result.outcome, .failed(reason: "owned_by_another_user"), "outcome")
            try expect(result.events.map(\.topic), [.failed], "topics")
            try expect(try subject.grantRows().map(\.userID), ["player-1"], "owners")
        },
        ConformanceRule("A purchase that was granted for another order is refused, and so for none of the two") {
            subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", order: "o1"), Samples.purchase("1")))
            let other = try subject.write(
                Samples.grant(Samples.submission("s2", order: "o2", offset: 8), Samples.purchase("1")))[0]
            try expect(other.outcome, .failed(reason: "granted_to_another_order"), "other order")
            let none = try subject.write(
                Samples.grant(Samples.submission("s3", offset: 9), Samples.purchase("1")))[0]
            try expect(none.outcome, .repeated, "no order")
        },
        ConformanceRule("A durable purchase and its restore are one, in both orders") { subject in
            try subject.own()
            let durable = Samples.gems(.nonConsumable)
            for (first, second, original) in [("11", "12", "11"), ("22", "21", "21")] {
                let purchases = [first, second].map {
                    Samples.purchase(TransactionID($0), original: TransactionID(original), product: durable)
                }
                let ids = [first, second].map { SubmissionID("s" + $0) }
                let one = try subject.write(Samples.grant(Samples.submission(ids[0]), purchases[0]))[0]
                try expect(one.outcome, .granted(created: 1), "the first of \(first) and \(second)")
                let two = try subject.write(Samples.grant(Samples.submission(ids[1], offset: 8), purchases[1]))[0]
                try expect(two.outcome, .repeated, "the second of \(first) and \(second)")
                try expect(two.events.map(\.unmarked), one.events, "events")
                let thief = Samples.submission(SubmissionID("t" + second), user: "thief", offset: 9)
                let stolen = try subject.write(Samples.grant(thief, purchases[1]))[0]
                try expect(stolen.outcome, .failed(reason: "owned_by_another_user"), "another user's restore")
            }
        },
        ConformanceRule("A corrected product type does not make a granted purchase new") { subject in
            try subject.own()
            var offset: Int64 = 0
            for (id, before, after) in [
                ("31", ProductType.consumable, ProductType.nonConsumable), ("32", .nonConsumable, .consumable),
                ("33", .autoRenewable, .consumable), ("34", .consumable, .autoRenewable),
            ] {
                for (name, type) in [("a", before), ("b", after)] {
                    offset += 1
                    let submission = Samples.submission(SubmissionID(name + id), offset: offset)
                    let purchase = Samples.purchase(
                        TransactionID(id), lineItem: type == .autoRenewable ? "9" + id : nil,
                        product: Samples.gems(type))
                    let result = try subject.write(Samples.grant(submission, purchase))[0]
                    try expect(result.outcome, name == "a" ? .granted(created: 1) : .repeated, "\(id) as \(type)")
                }
            }
        },
        ConformanceRule("What was granted as a consumable is not granted again by its restore") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("35")))
            let restored = Samples.purchase("36", original: "35", product: Samples.gems(.nonConsumable))
            let result = try subject.write(Samples.grant(Samples.submission("s2", offset: 8), restored))[0]
            try expect(result.outcome, .repeated, "outcome")
        },
        ConformanceRule("One period of a subscription is granted once, also with and without its line item") {
            subject in
            try subject.own()
            let pass = Samples.gems(.autoRenewable)
            let first = Samples.purchase("41", original: "40", lineItem: "900", product: pass)
            try subject.write(Samples.grant(Samples.submission("s1"), first))
            let restored = Samples.purchase("42", original: "40", lineItem: "900", product: pass)
            let unnamed = Samples.purchase("41", original: "40", product: pass)
            for (id, purchase) in [("s2", restored), ("s3", unnamed)] {
                let submission = Samples.submission(SubmissionID(id), offset: 8)
                try expect(try subject.write(Samples.grant(submission, purchase))[0].outcome, .repeated, id)
            }
            let next = Samples.purchase("43", original: "40", lineItem: "901", product: pass)
            let renewal = try subject.write(Samples.grant(Samples.submission("s4", offset: 9), next))[0]
            try expect(renewal.outcome, .granted(created: 1), "the next period")
        },
        ConformanceRule("Sandbox and production are two worlds with the same numbers") { subject in
            try subject.own()
            let sandbox = Samples.purchase("1", environment: .sandbox)
            try subject.write(Samples.grant(Samples.submission("s1", user: "tester"), sandbox))
            let real = try subject.write(
                Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1")))[0]
            try expect(real.outcome, .granted(created: 1), "outcome")
        },
        ConformanceRule("Of two holders the transaction's row decides") { subject in
            try subject.own()
            let durable = Samples.gems(.nonConsumable)
            // The key of 52 is another user's; its transaction is ours under another key.
            try subject.write(
                Samples.grant(
                    Samples.submission("s1", user: "other"), Samples.purchase("51", original: "50", product: durable)),
                Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("52")))
            let both = Samples.purchase("52", original: "50", product: durable)
            let ours = try subject.write(Samples.grant(Samples.submission("s3", offset: 9), both))[0]
            try expect(ours.outcome, .repeated, "the transaction's owner")
            let theirs = try subject.write(
                Samples.grant(Samples.submission("s4", user: "other", offset: 10), both))[0]
            try expect(theirs.outcome, .failed(reason: "owned_by_another_user"), "the key's owner")
        },
        ConformanceRule("A grant keeps what its product gave, whatever the catalogue says later") { subject in
            try subject.own()
            let before = try subject.write(
                Samples.grant(Samples.submission("s1"), Samples.purchase("1", product: Samples.gems(.consumable, 100))))
            try subject.write(
                Samples.grant(
                    Samples.submission("s2", offset: 8), Samples.purchase("2", product: Samples.gems(.consumable, 120)))
            )
            let copy = try subject.write(
                Samples.grant(
                    Samples.submission("s3", offset: 9), Samples.purchase("1", product: Samples.gems(.consumable, 120)))
            )
            try expect(copy[0].events.map(\.unmarked), before[0].events, "the first one's event")
            try expect(
                Set(try subject.grantRows().flatMap(\.items).map(\.quantity)), [100, 120], "quantities")
        },
        ConformanceRule("A batch that holds one key twice grants it once") { subject in
            try subject.own()
            let results = try subject.write(
                Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")),
                Samples.grant(Samples.submission("s2", user: "thief", offset: 2), Samples.purchase("1")),
                Samples.grant(Samples.submission("s3", offset: 3), Samples.purchase("2")))
            try expect(
                results.map(\.outcome),
                [.granted(created: 1), .failed(reason: "owned_by_another_user"), .granted(created: 1)], "outcomes")
        },
        ConformanceRule("A decision whose data is refused stops no other") { subject in
            try subject.own()
            var batch: [Decision] = []
            for number in 0..<50 {
                let submission = Samples.submission(SubmissionID("s\(number)"), offset: Int64(number))
                let id = number == 17 ? Samples.refusedTransaction : TransactionID("\(1_000 + number)")
                batch.append(Samples.grant(submission, Samples.purchase(id)))
            }
            let results = try subject.ledger.write(batch)
            for (number, result) in results.enumerated() {
                if number == 17 {
                    guard case .refused(let detail) = result else { throw Violation(description: "it is \(result)") }
                    try expect(!detail.contains(Samples.refusedTransaction.rawValue), "the detail holds the value")
                } else {
                    try expect(result.outcome, .granted(created: 1), "decision \(number)")
                }
            }
            try expect(try subject.grantRows().count, 49, "rows")
        },
    ]

    static let repeatRules: [ConformanceRule] = [
        ConformanceRule("A repeat is told by a marked copy that is the grant's in everything else") { subject in
            try subject.own()
            let purchase = Samples.purchase("1", payment: Payment(price: 990, currency: "EUR", storefront: "DEU"))
            let first = try subject.write(
                Samples.grant(Samples.submission("s1", traceparent: "00-first"), purchase))[0]
            let bare = Samples.purchase("1")
            let copy = try subject.write(
                Samples.grant(Samples.submission("s2", offset: 8, traceparent: "00-second"), bare, at: 9_000))[0]
            try expect(copy.outcome, .repeated, "outcome")
            try expect(copy.events.map(\.repeatOf), ["s2"], "mark")
            try expect(copy.events.map(\.unmarked), first.events, "the rest")
            let record = try subject.ledger.submission(SubmissionKey(bundleID: Samples.app, submissionID: "s2"))
            guard case .repeated(let answer)? = record.answer else { throw Violation(description: "no answer row") }
            try expect(answer.grant, Samples.reference("1"), "the answering grant")
            try expect(answer.origin.offset, 8, "origin")
        },
        ConformanceRule("An app that ignores repeats is told nothing of them") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))
            let copy = try subject.write(
                Samples.grant(Samples.submission("s2", offset: 8), Samples.purchase("1"), repeats: .ignore))[0]
            try expect(copy, .written(.repeated, publish: []), "result")
        },
        ConformanceRule("The message sent twice is a repeat, and writes no answer beside its grant") { subject in
            try subject.own()
            let first = try subject.write(Samples.grant(Samples.submission("s1"), Samples.purchase("1")))[0]
            let again = try subject.write(Samples.grant(Samples.submission("s1", offset: 8), Samples.purchase("1")))[0]
            try expect(again.outcome, .repeated, "outcome")
            try expect(again.events.map(\.unmarked), first.events, "events")
            let record = try subject.ledger.submission(SubmissionKey(bundleID: Samples.app, submissionID: "s1"))
            try expect(record.answer, nil, "answer")
        },
        ConformanceRule("What the look-up found answers the submission") { subject in
            try subject.own()
            let first = try subject.write(Samples.grant(Samples.submission("s1", order: "o1"), Samples.purchase("1")))[
                0]
            let found = try subject.ledger.lookUp([
                Samples.lookup("1"), Samples.lookup("1", order: "o2"), Samples.lookup("1", user: "thief"),
                Samples.lookup("1", app: "com.example.other"), Samples.lookup("1", product: "com.example.coins"),
                Samples.lookup("1", environment: .sandbox), Samples.lookup("1", environment: .production, order: "o1"),
                Samples.lookup("2"),
            ])
            let reference = Samples.reference("1")
            try expect(found, [reference, nil, nil, nil, nil, nil, reference, nil], "look-ups")
            let copy = try subject.write(
                Samples.decision(Samples.submission("s2", offset: 8), .repeated(reference)))[0]
            try expect(copy.outcome, .repeated, "outcome")
            try expect(copy.events.map(\.unmarked), first.events, "events")
            let gone = try subject.write(
                Samples.decision(Samples.submission("s3", offset: 9), .repeated(Samples.reference("9"))))[0]
            try expect(gone, .undecided, "a grant that is not there")
        },
    ]
}

extension Samples {
    static func lookup(
        _ transaction: TransactionID, user: UserID = "player-1", app: BundleID = app, environment: Environment? = nil,
        order: OrderID? = nil, product: ProductID? = nil
    ) -> GrantLookup {
        GrantLookup(
            bundleID: app, userID: user, transactionID: transaction, environment: environment, orderID: order,
            productID: product)
    }
}
