import AppStoreSimulator
import Foundation
import Purchases

/// What the demo submits: a day of a game's purchases and of those who try to get more than they paid for.
///
/// The first wave holds purchases and bad submissions; the second asks again for what the first was granted. The same
/// seed gives the same waves.
struct DemoScenario {
    let first: [WorkloadSubmission]
    let second: [WorkloadSubmission]
    /// Part of the key of every record and event of this run.
    let mark: String

    /// Writes both waves.
    ///
    /// - Parameters:
    ///   - now: purchases lie shortly before it.
    ///   - issue: makes a receipt, base64.
    ///   - forge: makes one that another authority signed.
    init(
        now: Timestamp, issue: @escaping (ReceiptSpecification) throws -> String,
        forge: @escaping (ReceiptSpecification) throws -> String
    ) throws {
        var writer = DemoWriter(now: now, issue: issue, forge: forge)
        mark = writer.mark
        try Self.purchases(&writer)
        try Self.attempts(&writer)
        try Self.unreadable(&writer)
        first = writer.take()
        try Self.repeats(&writer)
        second = writer.take()
    }

    private static func purchases(_ writer: inout DemoWriter) throws {
        for index in 0..<360 {
            let quantity = index % 10 + 1
            try writer.claim("consumable, quantity 1-10", writer.purchase(DemoCatalogue.gems, quantity: quantity))
        }
        for _ in 0..<40 {
            let basket = [writer.purchase(DemoCatalogue.gems), writer.purchase(DemoCatalogue.coins, quantity: 2)]
            try writer.claim("several purchases in one receipt", basket, claimed: nil)
        }
        for _ in 0..<80 {
            try writer.claim("non-consumable", writer.purchase(DemoCatalogue.castle, .nonConsumable))
        }
        for _ in 0..<60 {
            for period in writer.periods(DemoCatalogue.vip, count: 2) {
                try writer.claim("subscription period", period)
            }
        }
        for _ in 0..<60 {
            try writer.claim("non-renewing subscription", writer.purchase(DemoCatalogue.season, .nonRenewing))
        }
        for _ in 0..<60 {
            try writer.claim("sandbox purchase", writer.purchase(DemoCatalogue.gems), environment: .sandbox)
        }
        let transient: [[Fault]] = [
            [.status(code: 21005)], [.status(code: 21009)], [.http(code: 503)], [.html], [.truncated], [.reset],
            [.status(code: 21100, isRetryable: true)], [.status(code: 21005), .http(code: 503), .html],
        ]
        for index in 0..<160 {
            try writer.claim(
                "Apple unable at first", writer.purchase(DemoCatalogue.gems), faults: transient[index % transient.count]
            )
        }
    }

    private static func attempts(_ writer: inout DemoWriter) throws {
        for _ in 0..<20 {
            try writer.fail(
                "cancelled purchase", writer.purchase(DemoCatalogue.gems, cancelled: true), .transactionRevoked)
            try writer.fail(
                "another app's receipt", writer.purchase(DemoCatalogue.gems), .bundleMismatch, app: "com.example.other")
            try writer.fail("unknown product", writer.purchase("com.example.game.retired"), .unknownProduct)
            try writer.fail(
                "claims a dearer product", writer.purchase(DemoCatalogue.gems), .productMismatch,
                product: DemoCatalogue.castle)
            try writer.fail("forged receipt", writer.purchase(DemoCatalogue.gems), .receiptNotAuthentic, forged: true)
            try writer.fail(
                "truncated receipt", writer.purchase(DemoCatalogue.gems), .receiptMalformed, truncated: true)
            try writer.fail(
                "unknown app", writer.purchase(DemoCatalogue.gems), .unknownApp, submittedApp: "com.example.unknown")
        }
    }

    private static func unreadable(_ writer: inout DemoWriter) throws {
        let texts: [[UInt8]?] = [
            nil, [], Array("not json".utf8), Array(#"{"submissionId":"x"}"#.utf8), [0x7B, 0xFF, 0xFE, 0x7D],
            Array(#"{"submissionId":"a","submissionId":"b","userId":"u"}"#.utf8),
        ]
        for index in 0..<24 { writer.quarantine("unreadable message", texts[index % texts.count]) }
        for index in 0..<12 { writer.malformed("malformed submission", variant: index % 3) }
    }

    private static func repeats(_ writer: inout DemoWriter) throws {
        let granted = writer.claimed
        for claim in granted.prefix(100) { writer.again("exact duplicate", claim) }
        for claim in granted.dropFirst(100).prefix(60) { try writer.reclaim("same purchase, new submission", claim) }
        for claim in granted.dropFirst(160).prefix(60) { try writer.steal("same purchase, another user", claim) }
        for claim in granted.dropFirst(220).prefix(40) { try writer.reorder("same purchase, another order", claim) }
        for claim in granted.filter({ $0.purchases.first?.kind == .nonConsumable }).prefix(60) {
            try writer.restore("restore under a new transaction id", claim)
        }
    }
}
