import SwiftASN1

/// ASN.1 parsing within bounds that hold before any memory is spent on it.
///
/// The parser itself stops at 50 levels, but not at any number of values: four megabytes of two-byte values would cost it
/// half a gigabyte. A tree is built of a receipt's signer and certificates alone, where the signature is checked here;
/// everything else is read as ``BERValue``, which costs a tenth.
enum BoundedBER {
    /// Most ASN.1 values that are parsed at once. A receipt of ``AppReceipt/maxBytes`` has some 42,000 in its payload.
    static let maxValues = 1 << 16

    /// Parses exactly one value, in BER or DER; nil if the bytes are anything else or hold too many.
    static func parse(_ bytes: ArraySlice<UInt8>) -> ASN1Node? {
        guard !exceedsLimit(bytes) else { return nil }
        // What is wrong with it makes no difference to anybody: it is not the one value that it should be.
        return try? BER.parse(bytes)
    }

    /// Walks from header to header without building anything. Where the bytes end too soon it stops, and so will the parser.
    private static func exceedsLimit(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        var values = 0
        while let tag = rest.popFirst() {
            values += 1
            guard values <= maxValues else { return true }
            if tag & 0x1f == 0x1f { rest = rest.drop { $0 & 0x80 != 0 }.dropFirst() }
            guard let first = rest.popFirst() else { return false }
            var length = UInt64(first)
            if first & 0x80 != 0 {
                let count = Int(first & 0x7f)
                // BER allows leading zeros; lengths of more than eight bytes are nobody's.
                guard count <= 8 else { return true }
                length = rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
                rest = rest.dropFirst(count)
            }
            // Inside a constructed value, and only there, more headers follow.
            if tag & 0x20 == 0 { rest = rest.dropFirst(Int(clamping: length)) }
        }
        return false
    }
}

extension ASN1Node {
    /// The nodes inside a constructed node of the given kind; nil for any other node.
    func children(_ identifier: ASN1Identifier) -> [ASN1Node]? {
        guard self.identifier == identifier, case .constructed(let nodes) = content else { return nil }
        return Array(nodes)
    }

    /// The bytes of an OCTET STRING, joined where BER cut it into pieces; nil for any other node.
    var octets: ArraySlice<UInt8>? {
        guard identifier == .octetString else { return nil }
        // A failure means a piece that is no OCTET STRING, so this is none either.
        return try? ASN1OctetString(berEncoded: self).bytes
    }
}
