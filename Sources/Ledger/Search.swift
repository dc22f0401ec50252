import Contract

/// One look for a word that may be the id of anything, over all apps of a ledger.
///
/// Each query finds an index, so the look costs the same in a ledger of any size. Event ids are digests and lead back
/// to nothing: the event's submission and transaction do.
public struct Search: Hashable, Sendable {
    /// The meaning of a word to a submission that was found by it.
    public enum Meaning: String, Hashable, Sendable, CaseIterable {
        case submission
        case user
        case order
        case transaction
        case originalTransaction = "original_transaction"
    }

    /// Longest word that can be an id, in UTF-8. Longer ones are nobody's.
    public static let mostBytes = 512

    public let word: String
    /// Most hits that are shown; each query asks for one more, which tells that there are more.
    public let limit: Int
    public let queries: [SubmissionQuery]

    /// A search for an id of any kind. It asks nothing for a word that is empty, too long, or has a zero byte.
    public init(_ word: String, limit: Int) {
        self.word = word
        self.limit = limit
        guard (1...Self.mostBytes).contains(word.utf8.count), !word.utf8.contains(0) else {
            queries = []
            return
        }
        var all: [SubmissionQuery] = []
        for state in SubmissionState.allCases {
            // One more than are shown says whether there are more.
            let query = SubmissionQuery(state: state, limit: limit + 1)
            all.append(query.with { $0.submissionID = SubmissionID(word) })
            all.append(query.with { $0.userID = UserID(word) })
            all.append(query.with { $0.orderID = OrderID(word) })
            let transaction = TransactionID(asked: word)
            if transaction.isWellFormed { all.append(query.with { $0.transactionID = transaction }) }
        }
        queries = all
    }

    /// The hits in the answers to ``queries``: each row once, those that wait first, and then the latest first.
    public func result(_ lists: [[SubmissionRow]]) -> SearchResult {
        var hits: [SearchResult.Hit] = []
        var seen: Set<SubmissionRow> = []
        for row in lists.joined() where seen.insert(row).inserted {
            hits.append(SearchResult.Hit(row: row, meanings: meanings(for: row), owed: []))
        }
        // Somebody may have to act on what waits, so no number of later grants hides it.
        hits.sort { first, second in
            guard first.row.state.isWaiting == second.row.state.isWaiting else { return first.row.state.isWaiting }
            return (first.row.latest, first.row.sequence) > (second.row.latest, second.row.sequence)
        }
        return SearchResult(hits: Array(hits.prefix(limit)), hasMore: hits.count > limit)
    }

    private func meanings(for row: SubmissionRow) -> [Meaning] {
        let transaction = TransactionID(asked: word)
        var meanings: [Meaning] = []
        if row.claimant.submissionID == SubmissionID(word) { meanings.append(.submission) }
        if row.claimant.userID == UserID(word) { meanings.append(.user) }
        if row.claimant.orderID == OrderID(word) { meanings.append(.order) }
        if row.transactionID == transaction { meanings.append(.transaction) }
        if row.originalTransactionID == transaction, row.transactionID != transaction {
            meanings.append(.originalTransaction)
        }
        return meanings
    }
}

/// The hits of one search over all apps, at most ``Search/limit``: those that wait first, and then the latest first. A
/// submission that was granted several purchases is a hit with each.
public struct SearchResult: Hashable, Sendable {
    /// A submission, and which of its ids the word is.
    public struct Hit: Hashable, Sendable {
        public let row: SubmissionRow
        public let meanings: [Search.Meaning]
        /// The rows of the outbox about it.
        public internal(set) var owed: [OutboxRow]
    }

    public fileprivate(set) var hits: [Hit]
    /// More are there than the limit.
    public let hasMore: Bool
}

/// The results of several searches, for a ledger that asks their queries together, and then for what is owed.
public struct SearchResults {
    public private(set) var all: [SearchResult]

    /// - Parameter lists: The answers to the queries of all searches, in their order.
    public init(of searches: [Search], in lists: [[SubmissionRow]]) {
        var rest = lists[...]
        all = searches.map { search in
            defer { rest.removeFirst(search.queries.count) }
            return search.result(Array(rest.prefix(search.queries.count)))
        }
    }

    /// The keys of rows that the outbox may have about the hits.
    public var owable: Set<OutboxKey> { Set(all.flatMap { $0.hits.flatMap(\.row.owable) }) }

    /// - Parameter rows: The rows of the outbox with some keys, and perhaps with others.
    public mutating func add(_ rows: [OutboxRow]) {
        let owed = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
        for place in all.indices {
            for (index, hit) in all[place].hits.enumerated() {
                all[place].hits[index].owed = hit.row.owable.compactMap { owed[$0] }
            }
        }
    }
}

extension SubmissionQuery {
    fileprivate func with(_ change: (inout Self) -> Void) -> Self {
        var query = self
        change(&query)
        return query
    }
}

extension SubmissionRow {
    /// The latest moment that is known of it.
    fileprivate var latest: Int64 { (decidedAt ?? receivedAt)?.milliseconds ?? 0 }
}
