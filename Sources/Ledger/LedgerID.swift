internal import Cryptography

/// The id by which ledgers are told apart. It is given once, with the first step of the schema: a backup and a copy of a
/// ledger have the same one.
public enum LedgerID {
    /// For a new ledger: 128 random bits as hexadecimal digits.
    public static func random() -> String {
        Hexadecimal.text(of: (0..<16).map { _ in UInt8.random(in: 0...UInt8.max) })
    }
}
