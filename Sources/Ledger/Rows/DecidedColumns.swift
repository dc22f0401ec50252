import Contract

extension DecidedTable {
    /// Its name in the database.
    public var name: String {
        switch self {
        case .grants: GrantColumns.table
        case .answers: AnswerColumns.table
        }
    }

    /// The column with the moment of the decision.
    public var decidedAt: String {
        switch self {
        case .grants: GrantColumns.grantedAt.source
        case .answers: AnswerColumns.answeredAt.source
        }
    }

    /// The rows that workers have decided. Imported rows are in no order of their times, and have no event.
    public var isDecidedHere: String {
        switch self {
        case .grants: "\(GrantColumns.verifiedBy.source) <> '\(VerifiedBy.imported.rawValue)'"
        case .answers: "TRUE"
        }
    }
}

extension DecidedQuery {
    /// The rows of its state, within its table.
    public var isOfState: String {
        switch state {
        case .granted: DecidedTable.grants.isDecidedHere
        case .failed: "answers.reason IS NOT NULL"
        case .repeated: "answers.reason IS NULL"
        case .held, .retrying: "FALSE"
        }
    }
}
