import Purchases
import SwiftASN1

extension DER {
    /// A node's identifier and length.
    ///
    /// `DER.Serializer` moves a node's content byte by byte to make room for its length, at every level. Where the content
    /// is long, its length is written first.
    static func header(_ identifier: ASN1Identifier, length: Int) -> [UInt8] {
        let number = UInt8(truncatingIfNeeded: identifier.tagNumber)
        let isConstructed = identifier != .octetString
        let tag = (identifier.tagClass == .contextSpecific ? 0x80 : 0) | (isConstructed ? 0x20 : 0) | number
        guard length >= 0x80 else { return [tag, UInt8(length)] }
        var bytes: [UInt8] = []
        var rest = length
        while rest > 0 {
            bytes.insert(UInt8(rest & 0xff), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(bytes.count)] + bytes
    }
}

extension DER.Serializer {
    /// Appends `SEQUENCE { type, version 1, OCTET STRING }` around what the closure writes.
    mutating func appendAttribute(_ type: Int, value: (inout DER.Serializer) throws -> Void) throws {
        try appendConstructedNode(identifier: .sequence) { sequence in
            try sequence.serialize(type)
            try sequence.serialize(1)
            var inner = DER.Serializer()
            try value(&inner)
            sequence.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: inner.serializedBytes) }
        }
    }

    mutating func appendText(_ type: Int, _ text: String) throws {
        try appendAttribute(type) { try $0.serialize(ASN1UTF8String(text)) }
    }

    mutating func appendInteger(_ type: Int, _ number: some ASN1IntegerRepresentable) throws {
        try appendAttribute(type) { try $0.serialize(number) }
    }

    /// Appends bytes that are not ASN.1 themselves.
    mutating func appendOctets(_ type: Int, _ bytes: [UInt8]) throws {
        try appendConstructedNode(identifier: .sequence) { sequence in
            try sequence.serialize(type)
            try sequence.serialize(1)
            sequence.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: bytes) }
        }
    }

    /// Appends a date as RFC 3339 text without a fraction; an empty text for none.
    mutating func appendMoment(_ type: Int, _ moment: Timestamp?) throws {
        try appendAttribute(type) { value in
            let text = moment.map { CivilTime($0).rfc3339 } ?? ""
            value.appendPrimitiveNode(identifier: .ia5String) { $0.append(contentsOf: text.utf8) }
        }
    }
}
