/// One step of a ledger's schema, from the version before to its own. It is carried out whole, with the version's
/// number, in one transaction.
public struct Migration: Sendable {
    /// The schema's version after the step.
    public let version: Int
    /// For people; it stands in the error of a step that did not come about.
    public let name: String
    public let sql: String

    public init(_ version: Int, _ name: String, _ sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }
}

/// A driver's steps, from an empty database to the newest schema. docs/versions.md has the rules of a step.
public struct Migrations: Sendable {
    public let steps: [Migration]

    public init(_ steps: [Migration]) { self.steps = steps }

    public var newest: Int { steps.last?.version ?? 0 }

    /// Why these steps are carried out nowhere; nil if they count from 1 without a gap.
    public var fault: String? {
        for (index, step) in steps.enumerated() where step.version != index + 1 {
            return "this grantor's steps of the schema have \(step.version) (\(step.name)) in the place of \(index + 1)"
        }
        return nil
    }

    /// The next step for a ledger of a version; nil if it is up to date, or a later program's.
    public func next(after version: Int) -> Migration? { steps.first { $0.version > version } }
}
