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
    /// What the App Store Server API must know before the first wave.
    let registrations: [Registration]

    /// Writes both waves.
    ///
    /// - Parameters:
    ///   - now: purchases lie shortly before it.
    ///   - asksServerAPI: whether the worker has a key of the App Store Server API that the simulator accepts.
    init(now: Timestamp, issuer: DemoIssuer, asksServerAPI: Bool) throws {
        var writer = DemoWriter(now: now, issuer: issuer)
        mark = writer.mark
        try Self.purchases(&writer)
        try Self.signedPurchases(&writer)
        if asksServerAPI { try Self.lookedUpPurchases(&writer) }
        try Self.attempts(&writer)
        try Self.signedAttempts(&writer)
        try Self.unreadable(&writer)
        first = writer.take()
        try Self.repeats(&writer)
        second = writer.take()
        registrations = writer.registrations
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

    private static func signedPurchases(_ writer: inout DemoWriter) throws {
        for index in 0..<160 {
            let gems = writer.purchase(DemoCatalogue.gems, quantity: index % 10 + 1)
            try writer.claimSigned("signed: consumable, quantity 1-10", gems)
        }
        for _ in 0..<40 {
            try writer.claimSigned("signed: non-consumable", writer.purchase(DemoCatalogue.castle, .nonConsumable))
            try writer.claimSigned(
                "signed: non-renewing subscription", writer.purchase(DemoCatalogue.season, .nonRenewing))
            for period in writer.periods(DemoCatalogue.vip, count: 2) {
                try writer.claimSigned("signed: subscription period", period)
            }
            try writer.claimSigned(
                "signed: sandbox purchase", writer.purchase(DemoCatalogue.gems), environment: .sandbox)
            try writer.resendSigned(
                "signed anew for its owner", writer.purchase(DemoCatalogue.gems),
                thiefKind: "signed anew for another user")
        }
        for _ in 0..<40 {
            try writer.claim(
                "receipt verified on the spot", writer.purchase(DemoCatalogue.gems), app: DemoCatalogue.localApp)
        }
    }

    private static func lookedUpPurchases(_ writer: inout DemoWriter) throws {
        for _ in 0..<40 {
            try writer.claimID("bare transaction id", writer.purchase(DemoCatalogue.gems))
            let gems = writer.purchase(DemoCatalogue.gems)
            writer.register(gems, app: DemoCatalogue.lookingUpApp)
            try writer.claim("receipt, looked up by its ids", gems, app: DemoCatalogue.lookingUpApp)
        }
        for _ in 0..<20 {
            try writer.claimID(
                "transaction id that Apple finds late", writer.purchase(DemoCatalogue.gems),
                appearance: .afterCalls(count: 2))
            try writer.claimSigned(
                "signed days ago, so looked up first", writer.purchase(DemoCatalogue.gems),
                signedAt: writer.now.advanced(by: .seconds(-3 * 86_400)), app: DemoCatalogue.lookingUpApp,
                isRegistered: true)
            // The transaction was signed before the refund; Apple is asked and tells.
            let refunded = writer.purchase(DemoCatalogue.gems, cancelled: true)
            writer.register(refunded, app: DemoCatalogue.lookingUpApp)
            var asSigned = refunded
            asSigned.cancelledAt = nil
            asSigned.cancellationReason = nil
            try writer.failSigned(
                "refunded since it was signed",
                TransactionSpecification(asSigned, bundleID: DemoCatalogue.lookingUpApp, environment: .production),
                .transactionRevoked, signedAt: writer.now.advanced(by: .seconds(-3 * 86_400)),
                app: DemoCatalogue.lookingUpApp)
        }
    }

    private static func signedAttempts(_ writer: inout DemoWriter) throws {
        func transaction(
            _ purchase: SimulatedPurchase, app: BundleID = DemoCatalogue.bundleID, _ changes: [MemberChange] = []
        ) -> TransactionSpecification {
            TransactionSpecification(purchase, bundleID: app, environment: .production, changes: changes)
        }
        for _ in 0..<20 {
            try writer.failSigned(
                "signed by somebody else", transaction(writer.purchase(DemoCatalogue.gems)), .signatureInvalid,
                forged: true)
            try writer.failSigned(
                "signed for another app", transaction(writer.purchase(DemoCatalogue.gems), app: "com.example.other"),
                .bundleMismatch)
            try writer.failSigned(
                "signed, refunded", transaction(writer.purchase(DemoCatalogue.gems, cancelled: true)),
                .transactionRevoked)
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
        try writer.writeDeferred()
        for claim in granted.dropFirst(220).prefix(40) { try writer.reorder("same purchase, another order", claim) }
        for claim in granted.filter({ $0.purchases.first?.kind == .nonConsumable }).prefix(60) {
            try writer.restore("restore under a new transaction id", claim)
        }
    }
}
