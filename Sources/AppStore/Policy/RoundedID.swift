import Contract

extension TransactionID {
    /// Whether another id is this one as a number of JSON that was rounded. JavaScript and others read numbers as
    /// doubles, which hold whole numbers up to 2^53. For a hint to people; it decides nothing.
    func isRounded(to other: TransactionID) -> Bool {
        guard self != other, isWellFormed, other.isWellFormed, let exact = Double(rawValue),
            let rounded = Double(other.rawValue)
        else { return false }
        return exact == rounded && exact >= 0x1p53
    }
}

extension Claim {
    /// A sentence for the detail of a refusal, if the claimed id looks like one of these that was rounded; else empty.
    func hintOfRounding(among attested: some Sequence<TransactionID>) -> String {
        guard let claimed = transactionID, let exact = attested.first(where: { $0.isRounded(to: claimed) }) else {
            return ""
        }
        return " The claimed id looks like \(exact) rounded by a JSON number: send ids as strings."
    }
}
