import CommandParser
import Contract

extension ValueForm {
    /// An id as a person writes it: any text but the empty one.
    static func id<Kind>() -> Self where Value == Identifier<Kind> {
        let text = ValueForm<String>.text
        return ValueForm(text.requirement, read: { text.read($0).map { Value($0) } }, show: \.rawValue)
    }
}

extension ValueForm<TransactionID> {
    /// The same of a transaction: white space around it and zeros in front do not count.
    static func id() -> Self {
        let text = ValueForm<String>.text
        return ValueForm(text.requirement, read: { text.read($0).map { Value(asked: $0) } }, show: \.rawValue)
    }
}

extension ValueForm<Timestamp> {
    static var moment: Self {
        ValueForm("a moment such as 2026-11-21T00:00:00Z", read: { Timestamp(rfc3339: $0) }, show: \.rfc3339)
    }
}
