import AppStoreSimulator
import Contract
import Scheduling

/// The demo's submissions: a day of a game's purchases, and of players who try to get more than they paid for.
struct Scenario {
    /// Purchases and bad submissions, in three parts of mixed kinds.
    let parts: [[DemoSubmission]]
    /// Asks again for purchases that were granted in parts.
    let repeats: [DemoSubmission]
    /// Transactions that the App Store Server API must know from the start.
    let registrations: [Registration]
    /// Each purchase that was paid for, and who paid.
    let paid: [TransactionID: UserID]

    /// The order is the same in each run.
    init(authority: SimulatorAuthority, now: Timestamp) throws {
        var writer = try DemoWriter(authority: authority, now: now)
        try Self.receipts(&writer)
        try Self.signedTransactions(&writer)
        try Self.lookedUp(&writer)
        try Self.refusedReceipts(&writer)
        try Self.refusedSignedTransactions(&writer)
        Self.unreadable(&writer)
        var random = SplitMix64(seed: 1)
        let first = writer.take().shuffled(using: &random)
        parts = (0..<3).map { Array(first[first.count * $0 / 3..<first.count * ($0 + 1) / 3]) }
        try Self.repeats(&writer)
        repeats = writer.take().shuffled(using: &random)
        registrations = writer.registrations
        paid = writer.paid
    }

    /// All submissions, in the order in which they are sent.
    var all: [DemoSubmission] { parts.flatMap { $0 } + repeats }

    private static func receipts(_ writer: inout DemoWriter) throws {
        for index in 0..<40 {
            let gems = writer.purchase(Catalogue.gems, quantity: index % 10 + 1)
            try writer.claim("receipt: consumable, quantity 1-10", [gems])
        }
        for _ in 0..<6 {
            let basket = [writer.purchase(Catalogue.gems), writer.purchase(Catalogue.coins, quantity: 2)]
            try writer.claim("receipt: several purchases", basket)
        }
        for _ in 0..<10 {
            try writer.claim("receipt: non-consumable", [writer.purchase(Catalogue.castle, .nonConsumable)])
        }
        for _ in 0..<5 {
            for period in writer.periods(Catalogue.vip) { try writer.claim("receipt: subscription period", [period]) }
        }
        for _ in 0..<6 {
            try writer.claim(
                "receipt: non-renewing subscription", [writer.purchase(Catalogue.season, .nonRenewing)])
            try writer.claim("receipt: sandbox", [writer.purchase(Catalogue.gems)], environment: .sandbox)
            try writer.claim("receipt: signature is enough", [writer.purchase(Catalogue.gems)], app: Catalogue.puzzle)
        }
        let faults: [[Fault]] = [
            [.status(code: 21005)], [.status(code: 21009)], [.http(code: 503)], [.html], [.truncated], [.reset],
            [.status(code: 21100, isRetryable: true)], [.status(code: 21005), .http(code: 503)],
        ]
        for index in 0..<16 {
            try writer.claim(
                "receipt: Apple unable at first", [writer.purchase(Catalogue.gems)],
                faults: faults[index % faults.count])
        }
    }

    private static func signedTransactions(_ writer: inout DemoWriter) throws {
        for index in 0..<40 {
            try writer.claimSigned(
                "signed: consumable, quantity 1-10", writer.purchase(Catalogue.gems, quantity: index % 10 + 1))
        }
        for _ in 0..<6 {
            try writer.claimSigned("signed: non-consumable", writer.purchase(Catalogue.castle, .nonConsumable))
            try writer.claimSigned("signed: non-renewing subscription", writer.purchase(Catalogue.season, .nonRenewing))
            try writer.claimSigned("signed: sandbox", writer.purchase(Catalogue.gems), environment: .sandbox)
            try writer.claimSigned(
                "signed: days ago, so looked up", writer.purchase(Catalogue.gems), signedDaysAgo: 3,
                app: Catalogue.racer)
        }
        for _ in 0..<3 {
            for period in writer.periods(Catalogue.vip) {
                try writer.claimSigned("signed: subscription period", period)
            }
        }
    }

    private static func lookedUp(_ writer: inout DemoWriter) throws {
        for _ in 0..<10 { writer.claimID("transaction id", writer.purchase(Catalogue.gems)) }
        for _ in 0..<4 {
            writer.claimID(
                "transaction id that Apple finds late", writer.purchase(Catalogue.gems),
                appearance: .afterCalls(count: 1))
        }
        for _ in 0..<6 {
            let gems = writer.purchase(Catalogue.gems)
            writer.register(gems, app: Catalogue.racer)
            try writer.claim("receipt: looked up by its ids", [gems], app: Catalogue.racer)
        }
    }

    private static func refusedReceipts(_ writer: inout DemoWriter) throws {
        for _ in 0..<4 {
            try writer.fail(
                "receipt: refunded", writer.purchase(Catalogue.gems, isCancelled: true), .transactionRevoked)
            try writer.fail(
                "receipt: of another app", writer.purchase(Catalogue.gems), .bundleMismatch,
                receiptOf: "com.example.other")
            try writer.fail("receipt: unknown product", writer.purchase("com.example.game.retired"), .unknownProduct)
            try writer.fail(
                "receipt: claims a dearer product", writer.purchase(Catalogue.gems), .productMismatch,
                product: Catalogue.castle)
            try writer.fail("receipt: forged", writer.purchase(Catalogue.gems), .receiptNotAuthentic, isForged: true)
            try writer.fail("receipt: cut off", writer.purchase(Catalogue.gems), .receiptMalformed, isTruncated: true)
            try writer.fail(
                "unknown app", writer.purchase(Catalogue.gems), .unknownApp, submittedApp: "com.example.unknown")
        }
    }

    private static func refusedSignedTransactions(_ writer: inout DemoWriter) throws {
        for _ in 0..<4 {
            try writer.failSigned("signed: forged", writer.purchase(Catalogue.gems), .signatureInvalid, isForged: true)
            try writer.failSigned(
                "signed: for another app", writer.purchase(Catalogue.gems), .bundleMismatch,
                signedFor: "com.example.other")
            try writer.failSigned(
                "signed: refunded", writer.purchase(Catalogue.gems, isCancelled: true), .transactionRevoked)
            // The transaction was signed before the refund; Apple is asked and reports it.
            let refunded = writer.purchase(Catalogue.gems, isCancelled: true)
            writer.register(refunded, app: Catalogue.racer)
            var asSigned = refunded
            asSigned.cancelledAt = nil
            asSigned.cancellationReason = nil
            try writer.failSigned(
                "signed: refunded since then", asSigned, .transactionRevoked, submittedApp: Catalogue.racer,
                signedDaysAgo: 3)
        }
    }

    private static func unreadable(_ writer: inout DemoWriter) {
        let texts: [[UInt8]?] = [
            nil, [], Array("not json".utf8), Array(#"{"submissionId":"x"}"#.utf8), [0x7B, 0xFF, 0xFE, 0x7D],
            Array(#"{"submissionId":"a","submissionId":"b","userId":"u"}"#.utf8),
        ]
        for text in texts { writer.unreadable("unreadable message", text) }
        let rests = [
            #""bundleId":"com.example.game""#, #""bundleId":[],"receipt":"AAAA""#,
            #""receipt":"AAAA","receipt":"BBBB""#,
        ]
        for rest in rests + rests { writer.malformed("malformed submission", rest) }
    }

    private static func repeats(_ writer: inout DemoWriter) throws {
        let claims = writer.claims
        for claim in claims.prefix(8) { writer.again("the same message again", claim) }
        for claim in claims.dropFirst(8).prefix(8) { writer.reclaim("the same purchase again", claim) }
        for claim in claims.dropFirst(16).prefix(8) { writer.steal("the same receipt, another user", claim) }
        for claim in claims.dropFirst(24).prefix(6) { writer.reorder("the same purchase, another order", claim) }
        for claim in claims.filter({ $0.purchase.kind == .nonConsumable }).prefix(6) {
            try writer.restore("restored under a new id", claim)
        }
        let signed = writer.signedClaims
        for claim in signed.prefix(8) { try writer.resign("signed anew for its owner", claim) }
        for claim in signed.dropFirst(8).prefix(8) { writer.steal("the same signed, another user", claim) }
    }
}
