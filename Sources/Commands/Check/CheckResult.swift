/// A line of what `grantor check` found.
struct CheckResult: Hashable, Sendable {
    enum Outcome: String, Hashable, Sendable {
        case good = "ok"
        /// Works, and is not as it should be.
        case warning = "warning"
        case failed = "FAILED"
    }

    let name: String
    let outcome: Outcome
    let detail: String

    init(_ name: String, _ outcome: Outcome, _ detail: String) {
        self.name = name
        self.outcome = outcome
        self.detail = detail
    }

    var row: [String] { [name, outcome.rawValue, detail] }
}
