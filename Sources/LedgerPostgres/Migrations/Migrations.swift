import Ledger

extension Migrations {
    /// All steps of a ledger on PostgreSQL.
    static let postgres = Migrations([Migration(1, "the first schema", migration001)])
}
