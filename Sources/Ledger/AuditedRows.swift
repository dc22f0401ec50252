public import Contract

/// The tables that an audit reads from end to end, in the required order.
///
/// A submission leaves `retries` for `answers` or `grants`, and never goes back. So an audit in this order meets it.
public enum AuditedTable: String, Hashable, Sendable, CaseIterable {
    case outbox
    case retries
    case answers
    case grants
}

/// A row as an audit compares it with other rows and with the topics.
public struct AuditedRow: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case grant(Grant)
        case failure(Failure)
        /// With the answering grant, as far as the ledger has it.
        case repeated(Repeat, by: AnsweringGrant)
        /// A row of `retries` of any version.
        case waiting(SubmissionKey)
        case owed(OutboxRow)
        /// A row that only a later version can read; nil where not even its submission is known.
        case later(LaterRow?)
    }

    /// The grant that a repeat names.
    public enum AnsweringGrant: Hashable, Sendable {
        case there(Claimant)
        /// It is there, and only a later version can read it.
        case later
        case missing
    }

    /// Its sequence number in its table.
    public let sequence: Int64
    public let content: Content

    public init(sequence: Int64, content: Content) {
        self.sequence = sequence
        self.content = content
    }
}

extension AuditedRow {
    /// Answers of one page with the grants that repeats name.
    /// - Parameter holders: The rows that ``FoundAnswers/answering`` of these answers finds, in any order.
    public static func answers(_ rows: [(sequence: Int64, found: FoundAnswers)], holders: FoundGrants) -> [AuditedRow] {
        let known = Dictionary(holders.known.map { ($0.grant.reference, $0.grant.claimant) }) { first, _ in first }
        let later = Set(holders.later.compactMap(\.reference))
        return rows.map { row in
            let content: Content =
                switch row.found.known.first {
                case .failed(let failure): .failure(failure)
                case .repeated(let repeated):
                    .repeated(
                        repeated,
                        by: known[repeated.grant].map { .there($0) }
                            ?? (later.contains(repeated.grant) ? .later : .missing))
                case nil: .later(row.found.later.first)
                }
            return AuditedRow(sequence: row.sequence, content: content)
        }
    }
}

/// Something that was not published, or perhaps not.
public enum UntoldEvent: Hashable, Sendable {
    /// The event of a row that is there.
    case event(OutboxKey)
    /// A record that cannot be read.
    case record(QuarantineStub)

    /// The row that is added to the outbox.
    public var outboxRow: NewOutboxRow {
        switch self {
        case .event(let key): NewOutboxRow(publishing: key)
        case .record(let stub): NewOutboxRow(stub)
        }
    }
}
