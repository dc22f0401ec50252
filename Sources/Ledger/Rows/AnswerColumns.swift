import Contract

/// The form of a row of `answers`, the same in every database.
public enum AnswerColumns: Int32, RecordColumn {
    case app, submissionID, userID, orderID, traceparent, originPartition, originOffset, answeredAt, environment
    case transactionID, productID, reason, detail, digest, attempts, format, passedOver
    // Read beside those that are written.
    case sequence, topic, partition

    public static let table = "answers"
    private static let values = Array(allCases.prefix { $0 != .sequence })
    public static let written = WrittenColumns(values)

    public var kind: WrittenColumns.Kind {
        switch self {
        case .app, .submissionID, .userID, .orderID, .traceparent, .transactionID, .productID, .reason, .detail,
            .passedOver, .topic:
            .text
        case .originPartition, .originOffset, .answeredAt, .environment, .attempts, .format, .sequence, .partition:
            .integer
        case .digest: .blob
        }
    }

    /// Writes the values of ``written``.
    /// - Parameter partition: The number of its origin's row in `partitions`.
    public static func write(_ answer: Answer, partition: Int64, to row: inout some RowWriter) {
        let claimant = answer.claimant
        var failure: Failure?
        var repeated: Repeat?
        switch answer {
        case .failed(let content): failure = content
        case .repeated(let content): repeated = content
        }
        for column in values {
            switch column {
            case .app: row.text(claimant.bundleID)
            case .submissionID: row.text(claimant.submissionID)
            case .userID: row.text(claimant.userID)
            case .orderID: row.text(claimant.orderID)
            case .traceparent: row.text(claimant.traceparent)
            case .originPartition: row.integer(partition)
            case .originOffset: row.integer(answer.origin.offset)
            case .answeredAt: row.time(failure?.failedAt ?? repeated?.answeredAt)
            case .environment: row.integer(repeated?.grant.environment.column)
            case .transactionID: row.text(repeated?.grant.transactionID ?? failure?.transactionID)
            case .productID: row.text(failure?.productID)
            case .reason: row.text(failure?.reason)
            case .detail: row.text(failure?.detail)
            case .digest: row.blob(failure?.digest.bytes)
            case .attempts: row.integer(failure.map { Int64($0.attempts) })
            case .format: row.integer(failure.map { Int64($0.format.rawValue) })
            case .passedOver: row.text(repeated?.passedOver?.text)
            case .sequence, .topic, .partition: break
            }
        }
    }

    /// Columns of a query for answers and what they are joined with.
    public static let shown = selected

    public static let joins = "JOIN partitions ON partitions.number = answers.origin_partition"

    public static let selection = "SELECT \(shown) FROM answers \(joins)"

    /// Adds a row as ``selection`` finds it to those that were found before.
    public static func add(_ row: some RowReader, to found: inout FoundAnswers) {
        let row = TableRow(row, Self.self)
        if let answer = answer(row) {
            found.known.append(answer)
        } else {
            found.later.append(LaterRow(row.claimant, row.origin, reference: nil, key: nil))
        }
    }

    /// A row as ``selection`` finds it, for its event.
    public static func decided(_ row: some RowReader) -> DecidedRow {
        let row = TableRow(row, Self.self)
        return DecidedRow(place: row.integer(.sequence), content: answer(row).map { .answer($0) } ?? .later)
    }

    /// A row as ``selection`` finds it, with its sequence.
    public static func audited(_ row: some RowReader) -> (sequence: Int64, found: FoundAnswers) {
        var found = FoundAnswers()
        add(row, to: &found)
        return (TableRow(row, Self.self).integer(.sequence), found)
    }

    /// A failure or a repeat as people see it; any version can read it.
    public static func page(_ row: some RowReader) -> SubmissionRow {
        let row = TableRow(row, Self.self)
        let claimant = row.claimant
        let transaction: TransactionID? = row.optionalIdentifier(.transactionID)
        let isRepeat = row.isNull(.reason)
        var owable = [OutboxKey.failed(claimant.submissionKey)]
        var environment: Environment?
        if isRepeat {
            environment = row.optionalInteger(.environment).flatMap { Environment(column: $0) }
            let grant = environment.flatMap { environment in
                transaction.map { GrantReference(environment: environment, transactionID: $0) }
            }
            owable = grant.map { OutboxKey.telling(of: $0, to: claimant.submissionID) } ?? []
        }
        return SubmissionRow(
            sequence: row.integer(.sequence), state: isRepeat ? .repeated : .failed, claimant: claimant,
            origin: row.origin, decidedAt: row.time(.answeredAt), cause: row.optionalText(.reason),
            detail: row.optionalText(.detail), transactionID: transaction, environment: environment,
            productID: row.optionalIdentifier(.productID),
            attempts: Int(row.optionalInteger(.attempts) ?? 0),
            passedOver: row.optionalText(.passedOver).map { PassedOver(text: $0) }, owable: owable)
    }

    /// Nil for a row that only a later version can read.
    private static func answer(_ row: TableRow<Self, some RowReader>) -> Answer? {
        if let column = row.optionalInteger(.environment) {
            guard let environment = Environment(column: column) else { return nil }
            return .repeated(
                Repeat(
                    claimant: row.claimant,
                    grant: GrantReference(environment: environment, transactionID: row.identifier(.transactionID)),
                    origin: row.origin, answeredAt: row.time(.answeredAt),
                    passedOver: row.optionalText(.passedOver).map { PassedOver(text: $0) }))
        }
        guard let digest = ClaimDigest(bytes: row.blob(.digest)), let format = EventFormat(rawValue: row.int(.format))
        else { return nil }
        return .failed(
            Failure(
                claimant: row.claimant, reason: row.text(.reason), detail: row.text(.detail),
                transactionID: row.optionalIdentifier(.transactionID), productID: row.optionalIdentifier(.productID),
                failedAt: row.time(.answeredAt), attempts: row.int(.attempts), digest: digest, origin: row.origin,
                format: format))
    }
}
