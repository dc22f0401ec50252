internal import Contract
internal import FoundationEssentials

/// Which page of a history is asked for (Apple, "Get Transaction History", version 2).
struct HistoryQuery: Sendable {
    static let pageSize = 20

    /// Where a page ends: the next one goes on behind it, in the same direction.
    struct Bookmark: Equatable, Sendable {
        var isDescending: Bool
        /// Of the page's last transaction; nil for a page without any.
        var revision: Int?

        var text: String {
            Base64URL.encode("\(isDescending ? "d" : "a")\(revision.map { "\($0)" } ?? "")".utf8)
        }

        init(isDescending: Bool, revision: Int?) {
            self.isDescending = isDescending
            self.revision = revision
        }

        init?(_ text: String) {
            guard let bytes = Base64URL.decode(text), let first = bytes.first, "ad".utf8.contains(first) else {
                return nil
            }
            isDescending = first == UInt8(ascii: "d")
            guard bytes.count > 1 else { return }
            guard let number = Int(String(decoding: bytes.dropFirst(), as: UTF8.self)) else { return nil }
            revision = number
        }
    }

    private let isDescending: Bool
    private let bookmark: Bookmark?
    private let start: Int64?
    private let end: Int64?
    private let productIDs: Set<ProductID>
    private let types: Set<ProductType>
    private let ownership: Ownership?
    private let isRevoked: Bool?

    init(_ items: QueryItems) throws(ServerAPIError) {
        let sorts = ["ASCENDING": false, "DESCENDING": true]
        let ownerships = ["PURCHASED": Ownership.purchased, "FAMILY_SHARED": .familyShared]
        isDescending = try items.one("sort", or: .invalidSort) { sorts[$0] } ?? false
        bookmark = try items.one("revision", or: .invalidRequestRevision) { Bookmark($0) }
        start = try items.one("startDate", or: .invalidStartDate) { Int64($0) }
        end = try items.one("endDate", or: .invalidEndDate) { Int64($0) }
        ownership = try items.one("inAppOwnershipType", or: .invalidOwnership) { ownerships[$0] }
        isRevoked = try items.one("revoked", or: .invalidRevoked) { Bool($0) }
        productIDs = Set(items.all("productId").map { ProductID($0) })
        var types: Set<ProductType> = []
        for name in items.all("productType") {
            guard let type = ProductType(queryName: name) else { throw .invalidProductType }
            types.insert(type)
        }
        self.types = types
        if let bookmark, bookmark.isDescending != isDescending { throw .invalidRequestRevision }
        if let start, let end, start > end { throw .startDateAfterEndDate }
    }

    /// The page of a history that is in order of change.
    func page(
        of history: [TransactionTable.Entry]
    ) -> (entries: ArraySlice<TransactionTable.Entry>, bookmark: Bookmark, hasMore: Bool) {
        var rest = (isDescending ? history.reversed() : history).filter(matches)[...]
        if let last = bookmark?.revision {
            rest = rest.drop { isDescending ? $0.revision >= last : $0.revision <= last }
        }
        let page = rest.prefix(Self.pageSize)
        let next = Bookmark(isDescending: isDescending, revision: page.last?.revision ?? bookmark?.revision)
        return (page, next, rest.count > page.count)
    }

    private func matches(_ entry: TransactionTable.Entry) -> Bool {
        let purchase = entry.registration.transaction.purchase
        return (productIDs.isEmpty || productIDs.contains(purchase.productID))
            && (types.isEmpty || types.contains(purchase.kind))
            && ownership.map { $0 == purchase.ownership } ?? true
            && isRevoked.map { $0 == (purchase.cancelledAt != nil) } ?? true
            && start.map { purchase.purchasedAt.milliseconds >= $0 } ?? true
            && end.map { purchase.purchasedAt.milliseconds < $0 } ?? true
    }
}
