import Contract

/// The members of a signed transaction's payload, each read in whatever form it comes.
///
/// [JWSTransactionDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload)
struct TransactionPayload: Sendable {
    private let members: StrictJSON.Members

    init(json: [UInt8]) throws(SignedTransactionError) {
        let object: StrictJSON
        do throws(JSONUnreadable) {
            object = try StrictJSON(json)
        } catch {
            throw .payloadUnreadable
        }
        // Apple writes none twice, and readers disagree on which of two counts: the next reader of the text must see the
        // same.
        guard object.flaws.isEmpty else { throw .payloadUnreadable }
        members = object.members
    }

    /// A member's text, be it written as a text, a number or a flag; nil if it is absent, empty, null or has parts.
    func text(_ name: String) -> String? {
        switch members[name] {
        case .string(let text), .number(let text): text.isEmpty ? nil : text
        case .boolean(let flag): String(flag)
        case .null, .object, .array, nil: nil
        }
    }

    /// Whether a member is there, in whatever form.
    func has(_ name: String) -> Bool {
        switch members[name] {
        case nil, .null: false
        default: true
        }
    }

    /// A moment; nil if it is absent. One that cannot be read must not count as absent: the purchase may be over or
    /// refunded.
    func moment(_ name: String) throws(UnreadablePurchase) -> Timestamp? {
        try value(name) { LenientNumber.moment($0).map { Timestamp(milliseconds: $0) } }
    }

    /// A member in a form that is known; nil if it is absent.
    func value<Value>(_ name: String, _ read: (String) -> Value?) throws(UnreadablePurchase) -> Value? {
        let value: Value?
        switch members[name] {
        case .null, nil: return nil
        case .string(let text) where text.isEmpty: return nil
        case .string(let text), .number(let text): value = read(text)
        case .boolean(let flag): value = read(String(flag))
        case .object, .array: value = nil
        }
        guard let value else { throw .unknownForm(name) }
        return value
    }

    /// A member without which there is no purchase.
    func required<Value>(_ name: String, _ read: (String) -> Value?) throws(UnreadablePurchase) -> Value {
        guard let value = try value(name, read) else { throw .missing(name) }
        return value
    }
}

/// Apple signed the transaction, and it cannot be granted as it is: never the player's fault, so it is to be held for a
/// person.
public enum UnreadablePurchase: Error, Hashable, Sendable {
    /// A member that a grant needs is not there.
    case missing(String)
    /// A member that decides a grant is in a form, or of a value, that this version does not know.
    case unknownForm(String)

    /// The member's name in Apple's payload.
    public var member: String {
        switch self {
        case .missing(let member), .unknownForm(let member): member
        }
    }

    /// One sentence for people.
    public var detail: String {
        switch self {
        case .missing(let member): "The signed transaction has no \(member)."
        case .unknownForm(let member): "The signed transaction's \(member) is of an unknown form."
        }
    }
}
