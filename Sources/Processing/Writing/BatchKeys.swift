import Contract
import Ledger

/// Hashes of the keys that a batch may hold once: its submission, and all ids in its purchases' transactions and grant
/// keys. No decision of the same batch grants a purchase that is passed over or held, so its holder does not depend on
/// the batch. Many may ask for its holder.
///
/// That is a little stricter than the ledger needs, such as for two renewals of one subscription, and computes no key.
/// Two different ids with one hash wait for each other as well. Either costs a wait for the next batch, and nothing
/// else.
struct BatchKeys: Sendable {
    /// Of the submission, which stands for its claim as well.
    let submission: UInt64
    /// Of the first purchase; zero where there is none.
    var transaction: UInt64 = 0
    /// The original transaction's, where it differs.
    var original: UInt64 = 0
    /// Line items, and everything of further purchases.
    var more: [UInt64] = []
    /// Of purchases whose holders the ledger is asked for.
    var asked: [UInt64] = []

    init(submission claimant: Claimant, _ content: Decision.Content) {
        submission = Self.hash(1, claimant.bundleID.rawValue, claimant.submissionID.rawValue)
        for waiting in content.waitingPurchases { add(waiting) }
        guard case .grant(let purchases, _) = content else { return }
        for (index, granted) in purchases.enumerated() {
            let purchase = granted.purchase
            let kind: UInt8 = purchase.environment == .production ? 2 : 3
            let id = Self.hash(kind, purchase.transactionID.rawValue)
            let isRestored = purchase.originalTransactionID != purchase.transactionID
            let first = isRestored ? Self.hash(kind, purchase.originalTransactionID.rawValue) : 0
            if index == 0 {
                transaction = id
                original = first
            } else {
                more.append(id)
                if isRestored { more.append(first) }
            }
            // Two restored copies of one period differ in their transactions and share this.
            if let lineItem = purchase.webOrderLineItemID { more.append(Self.hash(kind + 2, lineItem)) }
        }
    }

    /// A key's name is a letter and one id, or two texts, the first of which is an id.
    private mutating func add(_ waiting: NamedPurchase) {
        let kind: UInt8 = waiting.key.environment == .production ? 2 : 3
        asked.append(Self.hash(kind, waiting.transactionID.rawValue))
        let parts = waiting.key.name.split(separator: ":")
        guard parts.count > 1, parts[1] != waiting.transactionID.rawValue else { return }
        asked.append(Self.hash(parts[0] == "w" ? kind + 2 : kind, String(parts[1])))
    }

    /// FNV-1a, because it is the same in every process; a collision has no benefit for an attacker.
    private static func hash(_ kind: UInt8, _ text: String, _ second: String = "") -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(kind)
        hash &*= 0x0100_0000_01B3
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01B3 }
        hash = (hash ^ 0xFF) &* 0x0100_0000_01B3
        for byte in second.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01B3 }
        return hash == 0 ? 1 : hash
    }
}
