/// The id by which ledgers are told apart. It is given once, with the first step of the schema: a backup and a copy of a
/// ledger have the same one.
public enum LedgerID {
    /// For a new ledger: 128 random bits as hexadecimal digits.
    public static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return [generator.next(), generator.next()].map { (word: UInt64) in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
