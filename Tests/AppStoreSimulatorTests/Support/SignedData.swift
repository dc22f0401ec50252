import Cryptography
import Foundation

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
            return try Certificate(der: der)
        }
    }

    /// Whether the first certificate's key signed it.
    var isSignatureValid: Bool {
        certificates.first?.publicKey.isValidES256Signature(Array(signature), of: SHA256.hash(signed.utf8)) ?? false
    }

    /// Whether its first two certificates lead to a root.
    func isTrusted(by root: [UInt8]) -> Bool {
        guard certificates.count == 3, let root = try? Certificate(der: root) else { return false }
        return certificates[0].isSigned(by: certificates[1].publicKey) && certificates[1].isSigned(by: root.publicKey)
            && certificates[2].der == root.der
    }

    private static func decode(_ part: String) throws -> Data {
        var text = part.replacing("-", with: "+").replacing("_", with: "/")
        guard !part.contains(where: { "+/=".contains($0) }) else { throw NotSigned() }
        while text.utf8.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text) else { throw NotSigned() }
        return data
    }
}
