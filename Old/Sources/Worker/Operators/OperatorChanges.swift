import Ledger
import Purchases

/// All that operator commands ask of a ledger.
typealias OperatorLedger = LedgerReader & LedgerOperations

/// `grantor submissions retry` and `abandon` as changes to a ledger.
struct OperatorChanges: Sendable {
    let ledger: any OperatorLedger
    let format: AnswerFormat
    let now: @Sendable () -> Timestamp

    /// Makes one waiting submission due at once.
    func retry(
        _ id: SubmissionID, of bundleID: BundleID?, _ note: OperatorNote
    ) async throws(LedgerError) -> OperatorAnswer {
        switch try await find(id, of: bundleID) {
        case .failure(let answer): return answer
        case .success(let key, let origin):
            var json = ChangeJSON(submissionId: id.rawValue, bundleId: key.bundleID.rawValue, action: "retry")
            switch try await ledger.retry(key, note, now: now()) {
            case .notFound: return Self.missing(id, bundleID)
            case .settled(.failed):
                return .notFound("\(named(key)) has failed, and a failure stands; there is nothing to try again")
            case .settled(let outcome):
                return .notFound("\(named(key)) is \(outcome.rawValue); there is nothing to try again")
            case .notKept:
                return .notFound(
                    "\(named(key)) is held without its evidence, and nothing tries it by itself; its record is in "
                        + "\(origin.topic), partition \(origin.partition), offset \(origin.offset)")
            case .underWay(let worker):
                json.submissions = 0
                json.triedBy = worker.text
                return .found(render(json) { "\(named(key)) is being tried already, by \(worker.text).\n" })
            case .due:
                return .found(render(json) { "\(named(key)) is due now; a worker tries it within seconds.\n" })
            }
        }
    }

    /// Makes all submissions due that wait for a cause.
    func retryAll(
        _ cause: WaitingCause, of bundleID: BundleID?, perSecond: Double, _ note: OperatorNote
    ) async throws(LedgerError) -> OperatorAnswer {
        let count = try await ledger.retryAll(
            cause, bundleID: bundleID, perSecond: perSecond, note, now: now())
        guard count > 0 || format == .json else {
            return .notFound("no submission\(bundleID.map { " of app \"\($0)\"" } ?? "") waits for \(cause.word)")
        }
        let seconds = Int((Double(count) / perSecond).rounded(.up))
        return .found(
            render(ChangeJSON(action: "retry", cause: cause.word, submissions: count)) {
                "\(count) \(count == 1 ? "submission comes" : "submissions come") due within \(seconds) s, the oldest first.\n"
            })
    }

    /// Gives a waiting submission up.
    func abandon(
        _ id: SubmissionID, of bundleID: BundleID?, _ note: OperatorNote
    ) async throws(LedgerError) -> OperatorAnswer {
        switch try await find(id, of: bundleID) {
        case .failure(let answer): return answer
        case .success(let key, _):
            switch try await ledger.abandon(key, note, now: now()) {
            case .notFound: return Self.missing(id, bundleID)
            case .settled(let outcome):
                return .notFound("\(named(key)) is \(outcome.rawValue) already; only what waits can be given up")
            case .abandoned(let event):
                let json = ChangeJSON(
                    submissionId: id.rawValue, bundleId: key.bundleID.rawValue, action: "abandon",
                    eventId: event.rawValue)
                return .found(
                    render(json) { "\(named(key)) is given up; its failed event \(event) is on its way.\n" })
            }
        }
    }

    private enum Found {
        case success(SubmissionKey, Origin)
        case failure(OperatorAnswer)
    }

    /// The one submission that an id names.
    private func find(_ id: SubmissionID, of bundleID: BundleID?) async throws(LedgerError) -> Found {
        let rows = try await ledger.submissions(
            SubmissionFilter(bundleID: bundleID, submissionID: id), before: nil, limit: 2)
        guard let row = rows.first else { return .failure(Self.missing(id, bundleID)) }
        guard rows.count == 1 else {
            return .failure(.notFound("several apps have a submission \"\(id)\"; name one with --app"))
        }
        return .success(SubmissionKey(bundleID: row.claimant.bundleID, submissionID: id), row.origin)
    }

    private static func missing(_ id: SubmissionID, _ bundleID: BundleID?) -> OperatorAnswer {
        .notFound("no submission \"\(id)\"\(bundleID.map { " of app \"\($0)\"" } ?? "") in the ledger")
    }

    private func named(_ key: SubmissionKey) -> String {
        "submission \"\(PrintableText.singleLine(key.submissionID.rawValue))\" of app \"\(key.bundleID)\""
    }

    private func render(_ json: ChangeJSON, _ text: () -> String) -> String {
        let line = text()
        return format.render(json: json) { _ in line.prefix(1).uppercased() + line.dropFirst() }
    }
}

/// What was done, as JSON.
private struct ChangeJSON: Encodable {
    var submissionId: String?
    var bundleId: String?
    let action: String
    var cause: String?
    var submissions = 1
    var eventId: String?
    var triedBy: String?
}
