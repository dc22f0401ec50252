extension LedgerError: CustomStringConvertible {
    /// One line for an operator: what is wrong and what helps.
    public var description: String {
        switch self {
        case .unavailable(let problem): "the ledger is unavailable now, try again: \(problem)"
        case .damaged(let problem): "the ledger is damaged: \(problem)"
        case .schemaAhead(let found, let known):
            "the ledger's schema (version \(found)) is newer than this program (version \(known)): use a newer program"
        case .schemaBehind(let found, let known):
            "the ledger's schema is version \(found), this program needs \(known): run grantor migrate"
        case .unusable(let problem): "the ledger cannot be used: \(problem)"
        }
    }
}
