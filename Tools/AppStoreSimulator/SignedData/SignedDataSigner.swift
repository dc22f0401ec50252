internal import Cryptography
internal import FoundationEssentials

/// Signs payloads as Apple signs transactions and renewals.
struct SignedDataSigner: Sendable {
    private let key: PrivateKey
    private let header: JSONText
    /// The header and the dot after it, the same for every payload that is not forged.
    private let opening: String

    init(chain: SigningChain, key: PrivateKey) {
        var header = JSONText()
        header.add("alg", "ES256")
        // Standard base64 of DER, unlike the rest of a JWS (RFC 7515, section 4.1.6).
        header.add("x5c", json: JSONText.array(chain.certificates.map { Data($0).base64EncodedString() }))
        self.key = key
        self.header = header
        opening = Self.opening(header)
    }

    /// The compact serialization of a payload and its signature (RFC 7515, section 7.1; RFC 7518, section 3.4).
    func sign(_ payload: String, header changes: [MemberChange] = []) throws(SignedDataError) -> String {
        var text = opening
        if !changes.isEmpty {
            var changed = header
            changed.apply(changes)
            text = Self.opening(changed)
        }
        text += Base64URL.encode(payload.utf8)
        return try text + "." + key.base64Signature(of: text)
    }

    private static func opening(_ header: JSONText) -> String {
        Base64URL.encode(header.text.utf8) + "."
    }
}

extension PrivateKey {
    /// The ES256 signature of a text, as a JWS has it.
    func base64Signature(of text: String) throws(SignedDataError) -> String {
        guard let signature = es256Signature(of: SHA256.hash(text.utf8)) else { throw .signingFailed }
        return Base64URL.encode(signature)
    }
}
