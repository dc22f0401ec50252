import Contract

/// The three parts of a JWS in compact form (RFC 7515, section 7.1), not looked into.
struct CompactJWS: Sendable {
    /// As it came, encoded.
    let header: ArraySlice<UInt8>
    /// As it came, encoded.
    let payload: ArraySlice<UInt8>
    /// As it came, encoded.
    let signature: ArraySlice<UInt8>
    /// The signed bytes: header and payload, encoded, with the dot between them.
    let signed: ArraySlice<UInt8>

    /// Takes a text apart. White space around it is passed over: people paste tokens.
    init(_ text: EvidenceText) throws(SignedTransactionError) {
        var token = text.bytes
        guard token.count <= SignedTransactionVerifier.maxBytes else { throw .tooLarge }
        while let last = token.last, Self.isSpace(last) { token.removeLast() }
        while let first = token.first, Self.isSpace(first) { token.removeFirst() }
        guard let first = Self.dot(in: token), let last = Self.dot(in: token[(first + 1)...]) else {
            throw .notThreeParts
        }
        header = token[..<first]
        payload = token[(first + 1)..<last]
        signature = token[(last + 1)...]
        signed = token[..<last]
        guard Self.dot(in: signature) == nil else { throw .notThreeParts }
    }

    /// The place of the first dot.
    private static func dot(in token: ArraySlice<UInt8>) -> Int? {
        // The header alone has kilobytes, so eight bytes are looked at together. The load is checked against the bounds, and
        // every pattern of bits is a number.
        let bytes = token.span.bytes
        var offset = 0
        while offset <= bytes.byteCount - 8 {
            // A byte that is a dot becomes 0, and no other byte does; taking 1 from it borrows into its highest bit.
            let word = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ dots
            guard (word &- ones) & ~word & highestBits == 0 else { break }
            offset += 8
        }
        return token[(token.startIndex + offset)...].firstIndex(of: UInt8(ascii: "."))
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highestBits: UInt64 = ones << 7
    private static let dots: UInt64 = ones * UInt64(UInt8(ascii: "."))

    /// ASCII white space.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
