public import Contract

/// A table of decisions, with a row for each purchase or submission. A row's place is its `sequence`: a later row has a
/// higher one, and none comes twice.
public enum DecidedTable: Hashable, Sendable {
    case grants
    case answers

    /// The most by which the order of places differs from the order of times. A decision keeps its time while the
    /// ledger is away, and workers' clocks differ.
    public static let mostDisorder = Duration.seconds(86_400)

    /// Places that one look at a table covers.
    public static let placesAtOnce: Int64 = 10_000
}

/// Selects rows whose events can be published again, in the order of their places. Members that are nil do not narrow
/// it.
public struct DecidedQuery: Hashable, Sendable {
    /// One that ``table`` has rows of.
    public var state: SubmissionState
    public var bundleID: BundleID?
    public var userID: UserID?
    public var submissionID: SubmissionID?
    /// Decided then or later.
    public var from: Timestamp?
    /// Decided before.
    public var to: Timestamp?
    public var places: ClosedRange<Int64>
    public var limit: Int

    public init(
        state: SubmissionState, bundleID: BundleID? = nil, userID: UserID? = nil, submissionID: SubmissionID? = nil,
        from: Timestamp? = nil, to: Timestamp? = nil, places: ClosedRange<Int64> = 0...(.max), limit: Int = 1_000
    ) {
        self.state = state
        self.bundleID = bundleID
        self.userID = userID
        self.submissionID = submissionID
        self.from = from
        self.to = to
        self.places = places
        self.limit = limit
    }

    /// Nil for submissions that wait: nothing is decided.
    public var table: DecidedTable? {
        switch state {
        case .granted: .grants
        case .failed, .repeated: .answers
        case .held, .retrying: nil
        }
    }

    /// Whether an index finds its rows; else it looks at each row of its places.
    public var namesAnID: Bool { userID != nil || submissionID != nil }
}

/// A row whose event can be published again.
public struct DecidedRow: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case grant(StoredGrant)
        case answer(Answer)
        /// Only a later version can read it.
        case later
    }

    public let place: Int64
    public let content: Content

    public init(place: Int64, content: Content) {
        self.place = place
        self.content = content
    }
}

extension [DecidedRow] {
    /// Questions for the grants that the repeats among them name.
    public var answering: [HolderQuestion] {
        compactMap { row in
            guard case .answer(.repeated(let repeated)) = row.content else { return nil }
            return HolderQuestion(repeated.grant)
        }
    }
}

/// The events of some decided rows, made from the rows as they were at first: the same bytes.
public struct EventPage: Hashable, Sendable {
    /// Why a row has no event here.
    public enum LeftOut: String, Hashable, Sendable {
        /// Its fulfilment call is owed, and comes before the event.
        case callOwed = "call_owed"
        /// Its user was erased: the event would have other bytes.
        case erased
        /// Only a later version makes its event.
        case laterVersion = "later_version"
    }

    public let events: [RenderedEvent]
    public let leftOut: [LeftOut: Int]
    /// The last row's place where more rows may follow; nil at the end of the query's places.
    public let last: Int64?

    /// - Parameters:
    ///   - rows: All rows that the query found, in order.
    ///   - answering: The grants that the repeats among them name.
    public init(_ rows: [DecidedRow], of query: DecidedQuery, answering: FoundGrants = FoundGrants()) {
        let holders = Holders(answering)
        var events: [RenderedEvent] = []
        var leftOut: [LeftOut: Int] = [:]
        for row in rows {
            switch Self.telling(row, holders) {
            case .success(let telling): events.append(telling.event)
            case .failure(let cause): leftOut[cause, default: 0] += 1
            }
        }
        self.events = events
        self.leftOut = leftOut
        last = rows.count < query.limit ? nil : rows.last?.place
    }

    private static func telling(_ row: DecidedRow, _ holders: Holders) -> Result<Telling, LeftOut> {
        switch row.content {
        case .later: return .failure(.laterVersion)
        case .answer(.failed(let failure)): return .success(.failure(failure))
        case .answer(.repeated(let repeated)):
            guard let stored = holders.holder(of: repeated.grant, nil).row else { return .failure(.laterVersion) }
            return telling(stored, repeatOf: repeated.claimant.submissionID)
        case .grant(let stored): return telling(stored, repeatOf: nil)
        }
    }

    private static func telling(_ stored: StoredGrant, repeatOf: SubmissionID?) -> Result<Telling, LeftOut> {
        if stored.owesCall { return .failure(.callOwed) }
        if stored.grant.isErased { return .failure(.erased) }
        return .success(.grant(stored.grant, repeatOf: repeatOf))
    }
}

extension EventPage.LeftOut: Error {}

extension LedgerOperator {
    /// A range of places with all rows that were decided in a range of time, and with some others. Found with some
    /// dozen looks, however large the table is. The lower bound has no such row itself.
    public func places(
        of table: DecidedTable, from: Timestamp?, to: Timestamp?
    ) throws(LedgerError) -> ClosedRange<Int64> {
        guard let span = try span(of: table) else { return 0...0 }
        let last = span.upperBound
        var first = span.lowerBound - 1
        if let from {
            let earliest = from.advanced(by: Duration.zero - DecidedTable.mostDisorder)
            // Without a row that says a time, more is looked at and not less.
            first = try boundary(in: table, within: first...last) { $0.map { $0 < earliest } ?? false }.lowerBound
        }
        guard let to else { return first...last }
        let latest = to.advanced(by: DecidedTable.mostDisorder)
        let end = try boundary(in: table, within: first...last) { $0.map { $0 <= latest } ?? true }.upperBound
        return first...end
    }

    /// Halves a range of places until it is one look wide.
    /// - Parameter isBefore: Whether the boundary is behind a row of this time; nil where no row is found.
    private func boundary(
        in table: DecidedTable, within range: ClosedRange<Int64>, isBefore: (Timestamp?) -> Bool
    ) throws(LedgerError) -> ClosedRange<Int64> {
        var (low, high) = (range.lowerBound, range.upperBound)
        while high - low > DecidedTable.placesAtOnce {
            let middle = low + (high - low) / 2
            let found = try firstDecision(in: table, (middle + 1)...(middle + DecidedTable.placesAtOnce))
            if isBefore(found) { low = middle } else { high = middle }
        }
        return low...high
    }
}
