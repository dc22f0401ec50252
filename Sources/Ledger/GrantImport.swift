public import Contract

/// A ledger's answer to a grant of another system.
public enum ImportResult: Hashable, Sendable {
    /// The ledger has it now, or would have it.
    case new
    /// The user has the purchase already.
    case present
    /// The user has the purchase already, under another transaction: one of the two is a restore of the other.
    case presentUnderAnother
    /// It is another user's, or another app's. Nothing was changed.
    case taken
    /// Only a later version can read the row that has its key. Nothing was changed.
    case later
}

/// Grants of a file that another system has written.
public enum GrantImport {
    /// Most in one call: as many as one statement adds without making workers wait.
    public static let most = 4_000

    /// The prefix of the topic that stands as the origin of imported rows. No topic of Kafka's has a colon.
    static let topicPrefix = "import:"

    /// The origin of a row that was imported from a line of a file: `import:` and the name, partition 0, the line.
    public static func origin(file name: String, line: Int) -> Origin {
        Origin(topic: topicPrefix + name, partition: 0, offset: Int64(line))
    }

    /// Tries grants in one statement after another, each of which may insert in the order of their keys. No statement
    /// has a transaction under two keys, so the first of its lines has it.
    /// - Parameter insert: Tries some of them, and says of each whether it was added.
    /// - Returns: Whether each was added.
    public static func insert<Failure: Error>(
        _ grants: [Grant], _ insert: ([NewGrant]) throws(Failure) -> [Bool]
    ) throws(Failure) -> [Bool] {
        var isNew = grants.map { _ in false }
        var rest = grants.enumerated().map { NewGrant(decision: $0, grant: $1) }
        // Each turn takes a grant at least.
        while !rest.isEmpty {
            var keys: [GrantReference: GrantKey] = [:]
            for new in rest where keys[new.grant.reference] == nil { keys[new.grant.reference] = new.grant.key }
            let isNext = { (new: NewGrant) in keys[new.grant.reference] == new.grant.key }
            let next = rest.filter(isNext)
            for (new, flag) in zip(next, try insert(next)) { isNew[new.decision] = flag }
            rest.removeAll(where: isNext)
        }
        return isNew
    }

    /// The grants without a result, as a driver inserts them.
    public static func refusedForNothing(_ grants: [Grant], _ results: [ImportResult?]) -> [NewGrant] {
        zip(grants, results).enumerated().filter { $0.element.1 == nil }.map {
            NewGrant(decision: $0.offset, grant: $0.element.0)
        }
    }

    /// - Parameters:
    ///   - isNew: Whether each was added; none was in a trial.
    ///   - find: Reads the rows that stand in the way of the others. After the insertion: they may not be visible to
    ///     the refused statement.
    /// - Returns: Nil for a grant that was not added although nothing is in its way. In a trial each new line is so.
    ///   After an insertion such a line is missing in the ledger, and the database is at fault.
    public static func results<Failure: Error>(
        _ grants: [Grant], isNew: [Bool], _ find: ([HolderQuestion]) throws(Failure) -> FoundGrants
    ) throws(Failure) -> [ImportResult?] {
        let refused = zip(grants, isNew).filter { !$0.1 }.map(\.0)
        let holders = Holders(try find(refused.map { HolderQuestion($0.reference, $0.key) }))
        return zip(grants, isNew).map { (grant, isNew) -> ImportResult? in
            guard !isNew else { return .new }
            switch holders.holder(of: grant.reference, grant.key) {
            case .none: return nil
            case .later: return .later
            case .row(let stored):
                let isSame = stored.grant.userID == grant.userID && stored.grant.bundleID == grant.bundleID
                guard isSame else { return .taken }
                return stored.grant.reference == grant.reference ? .present : .presentUnderAnother
            }
        }
    }
}

extension Grant {
    /// The grant of a purchase that another system has given to a user.
    ///
    /// It has no items. If the user claims the purchase again, a copy of its event gives nothing a second time. Its
    /// submission is named after the transaction, and its origin is a line of the file.
    /// - Parameters:
    ///   - line: Of the file, from 1.
    ///   - name: The file's, as people are to read it.
    public convenience init(
        imported purchase: Purchase, type: ProductType, to claimant: Claimant, grantedAt: Timestamp, line: Int,
        of name: String
    ) {
        self.init(
            key: GrantKey(of: purchase, type: type), transactionID: purchase.transactionID,
            originalTransactionID: purchase.originalTransactionID, webOrderLineItemID: purchase.webOrderLineItemID,
            product: Product(id: purchase.productID, type: type, items: []), quantity: purchase.quantity,
            purchasedAt: purchase.purchasedAt, expiresAt: purchase.expiresAt, ownership: purchase.ownership,
            payment: nil, offer: nil, verifiedBy: VerifiedBy.imported.rawValue, claimant: claimant,
            origin: GrantImport.origin(file: name, line: line), receivedAt: grantedAt, grantedAt: grantedAt,
            attempts: 0, format: .current, passedOver: nil)
    }
}
