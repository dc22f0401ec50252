import Crypto
import Foundation
import SwiftASN1
import X509

/// Signs payloads as Apple signs transactions and renewals.
struct SignedDataSigner: Sendable {
    private let key: P256.Signing.PrivateKey
    private let header: JSONObject
    /// The header and the dot after it, the same for every payload that is not forged.
    private let opening: String

    init(chain: SigningChain, key: P256.Signing.PrivateKey) throws(SignedDataError) {
        var header = JSONObject()
        header.add("alg", "ES256")
        do {
            // Standard base64 of DER, unlike the rest of a JWS (RFC 7515, section 4.1.6).
            let certificates = try [chain.leaf, chain.intermediate, chain.root].map { certificate in
                var serializer = DER.Serializer()
                try serializer.serialize(certificate)
                return Data(serializer.serializedBytes).base64EncodedString()
            }
            header.add("x5c", json: JSONObject.array(certificates))
        } catch {
            throw .signingFailed(ErrorWords.of(error))
        }
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
        do {
            let signature = try key.signature(for: Data(text.utf8)).rawRepresentation
            return text + "." + Base64URL.encode(signature)
        } catch {
            throw .signingFailed(ErrorWords.of(error))
        }
    }

    private static func opening(_ header: JSONObject) -> String {
        Base64URL.encode(header.text.utf8) + "."
    }
}
