import AppStoreSimulator
import Foundation
import Purchases

/// Plays a game's backend: writes submissions and knows what must become of each.
struct Player {
    private let apple: Apple
    private let now = Timestamp.present
    private var number: Int

    /// - Parameter start: Where its numbers start, so that two players' submissions are told apart.
    init(_ apple: Apple, from start: Int = 0) {
        self.apple = apple
        number = start
    }

    /// Submissions of every kind in turn, each about a purchase of its own.
    mutating func mixed(_ count: Int) throws -> [Played] {
        try (0..<count).map { index in
            switch index % 20 {
            case 0..<5: try claim([purchase(Catalogue.gems, quantity: index % 10 + 1)])
            case 5..<9: try claimSigned(purchase(Catalogue.gems, quantity: index % 10 + 1))
            case 9, 10: try claim([purchase(Catalogue.gems), purchase(Catalogue.coins, quantity: 2)])
            case 11: try claim([purchase(Catalogue.castle, .nonConsumable)])
            case 12: try claim([purchase(Catalogue.season, .nonRenewing)])
            case 13: try claim([period()])
            case 14: try claim([purchase(Catalogue.gems)], environment: .sandbox)
            case 15: try unableAtFirst(index)
            case 16: try fail(purchase(Catalogue.gems, cancelled: true), .transactionRevoked)
            case 17: try fail(purchase("com.example.game.retired"), .unknownProduct)
            case 18: try fail(purchase(Catalogue.gems), .receiptNotAuthentic, forged: true)
            default: unreadable()
            }
        }
    }

    /// Submissions that are granted, each about one consumable.
    mutating func consumables(_ count: Int) throws -> [Played] {
        try (0..<count).map { _ in try claim([purchase(Catalogue.gems)]) }
    }

    /// A submission that is granted, once Apple's first answers about it have been these.
    mutating func consumable(after faults: [Fault]) throws -> Played {
        let purchase = purchase(Catalogue.gems)
        try apple.simulator.script(purchase.transactionID, faults)
        return try claim([purchase])
    }

    /// What was granted before is asked for again: as it was, by the same user anew, and by a thief.
    mutating func again(_ granted: [Played]) throws -> [Played] {
        try granted.enumerated().map { index, played in
            guard case .granted(let transactions) = played.expectation, transactions.count == 1, index % 3 != 0,
                var message = played.message
            else {
                return played
            }
            let isThief = index % 3 == 1
            number += 1
            message.submissionId = "again-\(number)"
            if isThief { message.userId = "thief-\(number)" }
            return try self.played(message, isThief ? .failed(.ownedByAnotherUser) : played.expectation)
        }
    }

    /// One more submission of a receipt by the user whose it is, with a key of its own: few users are spread unevenly
    /// over partitions.
    mutating func `repeat`(of receipt: (receipt: String, user: String)) throws -> Played {
        number += 1
        let message = SubmissionMessage(
            submissionId: "repeat-\(number)", userId: receipt.user, bundleId: Catalogue.bundleID.rawValue,
            receipt: receipt.receipt)
        var played = try played(message, .granted([]))
        played.key = Array(message.submissionId.utf8)
        return played
    }

    /// A receipt about one consumable, with so many bytes before base64.
    mutating func receipt(bytes: Int) throws -> (receipt: String, user: String) {
        let receipt = try apple.simulator.issue(specification([purchase(Catalogue.gems)], size: bytes))
        return (receipt, "user-\(number)")
    }

    private mutating func purchase(
        _ product: ProductID, _ kind: ProductType = .consumable, quantity: Int = 1, cancelled: Bool = false
    ) -> SimulatedPurchase {
        SimulatedPurchase(
            transactionID: nextTransaction(), productID: product, kind: kind, quantity: quantity,
            purchasedAt: now.advanced(by: .seconds(-300)),
            cancelledAt: cancelled ? now.advanced(by: .seconds(-60)) : nil, cancellationReason: cancelled ? "0" : nil)
    }

    private mutating func period() -> SimulatedPurchase {
        let transaction = nextTransaction()
        return SimulatedPurchase(
            transactionID: transaction, productID: Catalogue.vip, kind: .autoRenewable,
            purchasedAt: now.advanced(by: .seconds(-300)), expiresAt: now.advanced(by: .seconds(86_400)),
            webOrderLineItemID: Int64(number) + 7_000_000)
    }

    private mutating func claim(
        _ purchases: [SimulatedPurchase], environment: ReceiptEnvironment = .production
    ) throws -> Played {
        let receipt = try apple.simulator.issue(specification(purchases, environment: environment))
        return try played(message(receipt), .granted(purchases.map(\.transactionID)))
    }

    private mutating func claimSigned(_ purchase: SimulatedPurchase) throws -> Played {
        var message = message(nil)
        message.signedTransaction = try apple.simulator.issueSigned(
            TransactionSpecification(purchase, bundleID: Catalogue.bundleID, environment: .production))
        return try played(message, .granted([purchase.transactionID]))
    }

    private mutating func fail(
        _ purchase: SimulatedPurchase, _ reason: FailureReason, forged: Bool = false
    ) throws -> Played {
        let specification = specification([purchase])
        let receipt = try forged ? apple.forger.base64(specification) : apple.simulator.issue(specification)
        return try played(message(receipt), .failed(reason))
    }

    /// Apple's answers fail before the true one comes.
    private mutating func unableAtFirst(_ index: Int) throws -> Played {
        let faults: [[Fault]] = [
            [.status(code: 21005)], [.http(code: 503)], [.html], [.truncated], [.reset], [.status(code: 21009), .html],
        ]
        let purchase = purchase(Catalogue.gems)
        try apple.simulator.script(purchase.transactionID, faults[index / 20 % faults.count])
        return try claim([purchase])
    }

    private mutating func unreadable() -> Played {
        number += 1
        return Played(
            submissionID: nil, key: Array("unreadable-\(number)".utf8), value: Array("not json".utf8),
            expectation: .quarantined, message: nil)
    }

    private func specification(
        _ purchases: [SimulatedPurchase], environment: ReceiptEnvironment = .production, size: Int? = nil
    ) -> ReceiptSpecification {
        ReceiptSpecification(
            bundleID: Catalogue.bundleID, environment: environment, purchases: purchases, creationDate: now,
            targetSize: size)
    }

    private mutating func message(_ receipt: String?) -> SubmissionMessage {
        number += 1
        return SubmissionMessage(
            submissionId: "submission-\(number)", userId: "user-\(number)", bundleId: Catalogue.bundleID.rawValue,
            receipt: receipt)
    }

    private func played(_ message: SubmissionMessage, _ expectation: Played.Expectation) throws -> Played {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return Played(
            submissionID: SubmissionID(message.submissionId), key: Array(message.userId.utf8),
            value: Array(try encoder.encode(message)), expectation: expectation, message: message)
    }

    private mutating func nextTransaction() -> TransactionID {
        number += 1
        return TransactionID(String(2_000_000_000_000_000 + number))
    }
}
