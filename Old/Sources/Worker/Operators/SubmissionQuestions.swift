import Ledger
import Purchases

/// `grantor submissions list` and `show` as questions to a ledger.
struct SubmissionQuestions: Sendable {
    /// Most apps whose submissions of one id are told of; an id is unique within an app only.
    static let maxStories = 20

    let ledger: any LedgerReader
    let format: AnswerFormat

    /// The submissions that a filter lets through, newest first. None is an answer, too.
    func list(_ filter: SubmissionFilter, page: Page) async throws(LedgerError) -> OperatorAnswer {
        let rows = try await ledger.submissions(filter, before: page.before, limit: page.limit)
        let next = page.next(after: rows.map(\.sequence))
        let listing = SubmissionListing(rows: rows, next: next)
        return .found(
            format.render(json: listing.json) { rows.isEmpty ? "No submissions found.\n" : listing.text(width: $0) })
    }

    /// All there is to tell of the submissions with an id.
    ///
    /// - Parameter bundleID: of which app; nil for all.
    func show(_ id: SubmissionID, of bundleID: BundleID?) async throws(LedgerError) -> OperatorAnswer {
        let filter = SubmissionFilter(bundleID: bundleID, submissionID: id)
        let rows = try await ledger.submissions(filter, before: nil, limit: Self.maxStories)
        guard !rows.isEmpty else {
            return .notFound("no submission \"\(id)\"\(bundleID.map { " of app \"\($0)\"" } ?? "") in the ledger")
        }
        var stories: [SubmissionStory] = []
        for row in rows {
            let events = try await ledger.events(row.eventIDs)
            let deliveries = try await ledger.deliveries(row.eventIDs)
            let key = SubmissionKey(bundleID: row.claimant.bundleID, submissionID: id)
            stories.append(
                SubmissionStory(
                    row: row, grants: try await grants(told: events, or: deliveries), events: events,
                    waiting: row.outcome.isFinal ? nil : try await ledger.waiting(key),
                    actions: try await ledger.actions(on: key), deliveries: deliveries))
        }
        return .found(
            format.render(json: SubmissionStory.List(submissions: stories.map(\.json))) { _ in
                stories.map { $0.text() }.joined(separator: "\n")
            })
    }

    /// The grants that events tell of, or will: those of earlier submissions too, which an answer may repeat.
    private func grants(
        told events: [EventRow], or deliveries: [DeliveryRow]
    ) async throws(LedgerError) -> [GrantRow] {
        var grants: [GrantRow] = []
        let told = events.compactMap { GrantedEventBody.grantID(of: $0.event) }
        for id in told + deliveries.filter(\.isOpen).map(\.grantID) {
            grants += try await ledger.grants(GrantFilter(grantID: id), before: nil, limit: 1)
        }
        return grants
    }
}
