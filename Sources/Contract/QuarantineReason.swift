/// Why a record goes to the quarantine topic: the rule that it breaks, and nothing of its content.
public enum QuarantineReason: Hashable, Sendable {
    /// The groups that people look at. The raw values label a metric and stand in logs.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case noValue = "no_value"
        case tooLarge = "too_large"
        /// No JSON object in UTF-8.
        case notJSON = "not_json"
        /// Another form, which its first bytes or members show: mostly a serializer's setting.
        case foreignForm = "foreign_form"
        case submissionID = "submission_id"
        case userID = "user_id"
        case endsWorkers = "ends_workers"
        case refusedByLedger = "refused_by_ledger"
    }

    /// The rule that an id breaks. Without the id nobody can be answered.
    public enum IDFault: Hashable, Sendable {
        /// Absent, null, an empty text or the number zero.
        case missing
        case standsTwice
        /// A word that languages write where there is no value.
        case isWordForNothing
        case isNoText
        /// A number that many writers round.
        case isLargeNumber
        case tooLong
        /// It has a character that is not allowed.
        case hasCharacter
    }

    /// A tombstone.
    case noValue
    /// Above ``SubmissionReading/maxValueBytes``.
    case tooLarge
    /// - Parameter rule: The rule of JSON or UTF-8.
    case notJSON(rule: String)
    case foreign(ForeignForm)
    /// Kafka Connect's JsonConverter writes a schema and a payload.
    case wrapped
    case submissionID(IDFault)
    case userID(IDFault)
    /// Its check has ended one worker after the other.
    case endsWorkers
    /// The ledger takes neither its decision nor its row.
    case refusedByLedger

    public var kind: Kind {
        switch self {
        case .noValue: .noValue
        case .tooLarge: .tooLarge
        case .notJSON: .notJSON
        case .foreign, .wrapped: .foreignForm
        case .submissionID: .submissionID
        case .userID: .userID
        case .endsWorkers: .endsWorkers
        case .refusedByLedger: .refusedByLedger
        }
    }

    /// The content of the header `x-quarantine-reason`, for people.
    public var words: String {
        switch self {
        case .noValue: "no value"
        case .tooLarge: "larger than 2 MiB"
        case .notJSON(let rule): rule
        case .foreign(let form): form.rawValue
        case .wrapped: "no submissionId: the value is wrapped in schema and payload (schemas.enable)"
        case .submissionID(let fault):
            Self.words(
                "submissionId", fault, characters: "one other than A-Z, a-z, 0-9, dot, underscore, colon and minus")
        case .userID(let fault): Self.words("userId", fault, characters: "a control character")
        case .endsWorkers: "its check has ended workers"
        case .refusedByLedger: "the ledger refuses its data"
        }
    }

    private static func words(_ name: String, _ fault: IDFault, characters: String) -> String {
        switch fault {
        case .missing: "\(name) is missing or empty"
        case .standsTwice: "\(name) stands more than once"
        case .isWordForNothing: "\(name) is a word that stands for no value, such as null"
        case .isNoText: "\(name) is neither a string nor a whole number"
        case .isLargeNumber: "\(name) is a number of 2^53 or more, which many writers round: send it as a string"
        case .tooLong: "\(name) is longer than \(MemberForms.maxIDLength) characters"
        case .hasCharacter: "\(name) has a character that is not allowed: \(characters)"
        }
    }
}
