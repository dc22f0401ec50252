import Contract
import FoundationEssentials

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

/// The protected header of a signed transaction: read, and not believed. It says which key may have signed; whether that
/// key counts is for the chain to show.
struct SignedTransactionHeader: Sendable {
    /// The one algorithm there is. It comes from here and not from the header, which must agree.
    static let algorithm = "ES256"
    /// Members that name another key, or that must be understood to be ignored (RFC 7515, sections 4.1.2-4.1.11; RFC
    /// 7797). Apple writes none of them.
    static let refused: Set<String> = ["crit", "jku", "jwk", "x5u", "b64"]

    /// Certificates in `x5c`: leaf, intermediate, root.
    private static let count = 3

    /// DER.
    let leaf: [UInt8]
    /// DER.
    let intermediate: [UInt8]

    /// Reads an encoded header.
    init(_ encoded: ArraySlice<UInt8>) throws(SignedTransactionError) {
        guard let json = Base64URL.decode(encoded) else { throw .notBase64URL }
        let header: StrictJSON
        do throws(JSONUnreadable) {
            header = try StrictJSON(json)
        } catch {
            throw .headerUnreadable
        }
        guard header.flaws.isEmpty else { throw .headerUnreadable }
        guard header.members["alg"] == .string(Self.algorithm) else { throw .wrongAlgorithm }
        guard Self.refused.isDisjoint(with: header.members.names) else { throw .headerRefused }
        guard header.members["x5c"] == .array, let chain = Self.certificates(in: json), chain.count == Self.count else {
            throw .wrongCertificateCount
        }
        guard chain.allSatisfy({ $0.utf8.count <= Self.maxCertificateText }) else { throw .chain(.tooLarge) }
        // The root that is presented is counted and never looked at: trust comes from the pinned ones alone, and Apple
        // has sent other certificates of the same root key.
        guard let leaf = Data(base64Encoded: chain[0]), let intermediate = Data(base64Encoded: chain[1]) else {
            throw .chain(.unreadable)
        }
        self.leaf = Array(leaf)
        self.intermediate = Array(intermediate)
    }

    /// Longest text of a certificate: `x5c` has the standard alphabet, padded (RFC 7515, section 4.1.6).
    private static let maxCertificateText = (ChainVerifier.maxCertificateBytes + 2) / 3 * 4

    /// The texts in the array `x5c` of an object; nil if something else is among them.
    private static func certificates(in json: [UInt8]) -> [String]? {
        var texts: [String] = []
        var isOfTexts = true
        do throws(JSONUnreadable) {
            var walk = try JSONWalk(json)
            try walk.members { walk, name throws(JSONUnreadable) in
                guard walk.index(of: name, in: chainName) != nil else { return }
                try walk.elements { walk throws(JSONUnreadable) in
                    guard case .string(let text) = try walk.scalar(), texts.count <= count else {
                        isOfTexts = false
                        return
                    }
                    texts.append(text)
                }
            }
        } catch {
            return nil
        }
        return isOfTexts ? texts : nil
    }

    private static let chainName = JSONNameList(["x5c"])
}
