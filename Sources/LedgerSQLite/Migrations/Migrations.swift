import Ledger

extension Migrations {
    /// All steps of a ledger on SQLite.
    static let sqlite = Migrations([Migration(1, "the first schema", migration001)])
}
