import Crypto
import Foundation
import SwiftASN1
import X509

@testable import AppStoreSimulator

/// A compact JWS, read with nothing of the simulator's own.
struct SignedData {
    struct NotSigned: Error {}

    let header: [String: Any]
    let payload: [String: Any]
    let certificates: [Certificate]
    private let signed: String
    private let signature: Data

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { throw NotSigned() }
        header = try members(Array(Self.decode(parts[0])))
        payload = try members(Array(Self.decode(parts[1])))
        signature = try Self.decode(parts[2])
        signed = parts[0] + "." + parts[1]
        certificates = try (header["x5c"] as? [String] ?? []).map { text in
            guard let der = Data(base64Encoded: text) else { throw NotSigned() }
            return try Certificate(derEncoded: Array(der))
        }
    }

    /// Whether the first certificate's key signed it.
    var isSignatureValid: Bool {
        guard let leaf = certificates.first, let key = P256.Signing.PublicKey(leaf.publicKey),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: Data(signed.utf8))
    }

    /// Whether its first two certificates lead to a root (RFC 5280).
    func isTrusted(by root: Certificate) async -> Bool {
        guard certificates.count == 3 else { return false }
        var verifier = Verifier(rootCertificates: CertificateStore([root])) {
            RFC5280Policy()
        }
        let result = await verifier.validate(
            leaf: certificates[0], intermediates: CertificateStore([certificates[1]]))
        guard case .validCertificate(let chain) = result else { return false }
        return chain.count == 3
    }

    private static func decode(_ part: String) throws -> Data {
        var text = part.replacing("-", with: "+").replacing("_", with: "/")
        guard !part.contains(where: { "+/=".contains($0) }) else { throw NotSigned() }
        while text.utf8.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text) else { throw NotSigned() }
        return data
    }
}
