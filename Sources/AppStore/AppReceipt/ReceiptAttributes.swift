import Purchases
import SwiftASN1

/// A set of attributes, `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`, in its order.
struct ReceiptAttributes {
    /// Longest text that an attribute may hold, in bytes; a longer one counts as absent.
    static let maxTextBytes = 1024

    private let list: [(type: Int, value: ArraySlice<UInt8>)]

    /// Reads a receipt's payload.
    init(receiptPayload payload: ArraySlice<UInt8>) throws(AppReceiptError) {
        guard let node = BoundedBER.parse(payload) else { throw .notReceiptAttributes }
        // Xcode wraps the set into one more OCTET STRING.
        let set = node.octets.flatMap(BoundedBER.parse) ?? node
        guard let attributes = Self(set) else { throw .notReceiptAttributes }
        self = attributes
    }

    /// Reads a nested set; nil if it is none.
    init?(set value: ArraySlice<UInt8>) {
        guard let node = BoundedBER.parse(value) else { return nil }
        self.init(node)
    }

    /// Members of another form are left out.
    private init?(_ node: ASN1Node) {
        guard let members = node.children(.set) else { return nil }
        list = members.compactMap { member in
            guard let parts = member.children(.sequence), parts.count == 3, let type = Self.integer(parts[0]),
                let kind = Int(exactly: type), let value = parts[2].octets
            else { return nil }
            return (kind, value)
        }
    }

    /// The values of every attribute of a type.
    func values(_ type: Int) -> [ArraySlice<UInt8>] {
        list.filter { $0.type == type }.map(\.value)
    }

    /// A text; nil when it is absent, empty, too long or not UTF-8.
    func text(_ type: Int) -> String? {
        guard let node = first(type), Self.texts.contains(node.identifier), case .primitive(let bytes) = node.content,
            !bytes.isEmpty, bytes.count <= Self.maxTextBytes
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A date and time; nil when it is absent, not RFC 3339, or empty, as a cancellation date is on a purchase that stands.
    func moment(_ type: Int) -> Timestamp? {
        text(type).flatMap { Timestamp(receiptDate: Array($0.utf8)) ?? Timestamp(rfc3339: $0) }
    }

    /// An integer; nil when it is absent or does not fit.
    func integer(_ type: Int) -> Int64? {
        first(type).flatMap(Self.integer)
    }

    /// Whether an attribute is there and says something: one that does and cannot be read must not count as absent.
    func holdsValue(_ type: Int) -> Bool {
        guard let value = list.first(where: { $0.type == type })?.value else { return false }
        guard let node = BoundedBER.parse(value), case .primitive(let bytes) = node.content else { return true }
        return !bytes.isEmpty
    }

    /// The first attribute of a type counts; Apple's receipts have each once.
    private func first(_ type: Int) -> ASN1Node? {
        list.first { $0.type == type }.flatMap { BoundedBER.parse($0.value) }
    }

    /// Nil stands for a node that is no integer of 64 bits.
    private static func integer(_ node: ASN1Node) -> Int64? {
        try? Int64(berEncoded: node)
    }

    private static let texts: Set<ASN1Identifier> = [.utf8String, .ia5String]
}
