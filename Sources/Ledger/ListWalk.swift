import Contract

/// The way through a table for a list whose rows no index finds: from its newest place on, stretch by stretch. So each
/// look is short, however large the table is. Pure.
public struct ListWalk: Hashable, Sendable {
    /// Most places that one list looks at.
    public static let mostPlaces: Int64 = 1_000_000

    private let first: Int64
    /// The first place that this list looks at.
    private let end: Int64
    /// All places from here on are looked at.
    private var reached: Int64

    /// - Parameters:
    ///   - span: The table's places; nil for an empty one.
    ///   - before: Continues behind the last place of the list before.
    public init(_ span: ClosedRange<Int64>?, before: Int64? = nil) {
        first = max(1, span?.lowerBound ?? 1)
        reached = max(first, min(before ?? .max, (span?.upperBound ?? 0) &+ 1))
        end = max(first, reached - Self.mostPlaces)
    }

    /// The places to look at now; nil if there are none, or enough are looked at.
    public var next: ClosedRange<Int64>? {
        reached > end ? max(end, reached - DecidedTable.placesAtOnce)...(reached - 1) : nil
    }

    /// The next places were looked at.
    public mutating func looked() { reached = next?.lowerBound ?? reached }

    /// Where the next list goes on; nil if no place is left.
    public var rest: Int64? { reached > first ? reached : nil }
}

/// The newest rows of a list.
public struct ListPart<Row: Sendable>: Sendable {
    public let rows: [Row]
    /// Where it goes on, if its rows end for another reason than their limit or the table's end: ``ListWalk`` has looked
    /// at enough places.
    public let rest: Int64?

    public init(_ rows: [Row], rest: Int64? = nil) { (self.rows, self.rest) = (rows, rest) }
}

extension SubmissionQuery {
    /// Whether no index has its rows in their order, so that they are looked for from place to place. Of failures one
    /// has them.
    public var isWalked: Bool { !namesAnID && !excludesAll && (state == .granted || state == .repeated) }
}

extension GrantQuery {
    /// As ``SubmissionQuery/isWalked``.
    public var isWalked: Bool { userID == nil && orderID == nil && transactionID == nil && submissionID == nil }
}

extension LedgerOperator {
    /// The submissions of one list, newest first. No call of it is long, however large the table is.
    public func part(of query: SubmissionQuery) throws(LedgerError) -> ListPart<SubmissionRow> {
        guard query.isWalked else { return ListPart(try submissions(query)) }
        return try walk(query.state == .granted ? .grants : .answers, query.bundleID, query.before, query.limit) {
            (places, limit) throws(LedgerError) in
            var query = query
            (query.before, query.from, query.limit) = (places.upperBound + 1, places.lowerBound, limit)
            return try submissions(query)
        }
    }

    /// Grants, newest first. No call of it is long, however large the table is.
    public func part(of query: GrantQuery) throws(LedgerError) -> ListPart<GrantRow> {
        guard query.isWalked else { return ListPart(try grants(query)) }
        return try walk(.grants, query.bundleID, query.before, query.limit) { (places, limit) throws(LedgerError) in
            var query = query
            (query.before, query.from, query.limit) = (places.upperBound + 1, places.lowerBound, limit)
            return try grants(query)
        }
    }

    private func walk<Row: Sendable>(
        _ table: DecidedTable, _ app: BundleID?, _ before: Int64?, _ limit: Int,
        look: (ClosedRange<Int64>, Int) throws(LedgerError) -> [Row]
    ) throws(LedgerError) -> ListPart<Row> {
        // A repeat has a grant of its app, too.
        if let app, try !hasGrants(of: app) { return ListPart([]) }
        var walk = ListWalk(try span(of: table), before: before)
        var rows: [Row] = []
        while rows.count < limit, let places = walk.next {
            rows += try look(places, limit - rows.count)
            walk.looked()
        }
        return ListPart(rows, rest: rows.count < limit ? walk.rest : nil)
    }
}
