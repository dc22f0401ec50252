/// The three parts of a JWS in compact form (RFC 7515, section 7.1), not looked into.
struct CompactJWS: Sendable {
    /// As it came, encoded.
    let header: ArraySlice<UInt8>
    /// As it came, encoded.
    let payload: ArraySlice<UInt8>
    /// As it came, encoded.
    let signature: ArraySlice<UInt8>
    /// What the signature is over: header and payload, encoded, with the dot between them.
    let signed: ArraySlice<UInt8>

    /// Takes a text apart. White space around it is passed over: people paste tokens.
    init(_ text: String) throws(SignedTransactionError) {
        guard text.utf8.count <= SignedTransactionVerifier.maxBytes else { throw .tooLarge }
        let bytes = Array(text.utf8)
        var token = bytes[...]
        while let last = token.last, Self.isSpace(last) { token.removeLast() }
        while let first = token.first, Self.isSpace(first) { token.removeFirst() }
        let dot = UInt8(ascii: ".")
        guard let first = token.firstIndex(of: dot), let last = token.lastIndex(of: dot), first != last else {
            throw .notThreeParts
        }
        payload = token[(first + 1)..<last]
        guard !payload.contains(dot) else { throw .notThreeParts }
        header = token[..<first]
        signature = token[(last + 1)...]
        signed = token[..<last]
    }

    /// ASCII white space.
    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
