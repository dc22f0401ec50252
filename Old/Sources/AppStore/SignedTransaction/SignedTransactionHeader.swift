import Foundation
import JSONReading

/// The protected header of a signed transaction: read, and not believed. It says which key may have signed; whether that
/// key counts is for the chain to show.
struct SignedTransactionHeader: Sendable {
    /// The one algorithm there is. It comes from here and not from the header, which must agree.
    static let algorithm = "ES256"
    /// Members that name another key, or that must be understood to be ignored (RFC 7515, sections 4.1.2-4.1.11; RFC
    /// 7797). Apple writes none of them.
    static let refused: Set<String> = ["crit", "jku", "jwk", "x5u", "b64"]

    /// Certificates in `x5c`: leaf, intermediate, root.
    private static let certificates = 3

    /// DER.
    let leaf: [UInt8]
    /// DER.
    let intermediate: [UInt8]

    private struct Chain: Decodable {
        let x5c: [String]
    }

    /// Reads an encoded header.
    init(_ encoded: ArraySlice<UInt8>) throws(SignedTransactionError) {
        guard let json = Base64URL.decode(encoded) else { throw .notBase64URL }
        let header: StrictJSON
        do throws(StrictJSON.Unreadable) {
            header = try StrictJSON(json)
        } catch {
            throw .headerUnreadable
        }
        guard header.flaws.isEmpty else { throw .headerUnreadable }
        guard header.members["alg"] == .string(Self.algorithm) else { throw .wrongAlgorithm }
        guard Self.refused.isDisjoint(with: header.members.names) else { throw .headerRefused }
        // A decoder that fails says that there is no array of texts under this name.
        guard let chain = try? JSONDecoder().decode(Chain.self, from: Data(json)), chain.x5c.count == Self.certificates
        else { throw .wrongCertificateCount }
        guard chain.x5c.allSatisfy({ $0.utf8.count <= Self.maxCertificateText }) else { throw .chain(.tooLarge) }
        // The root that is presented is counted and never looked at: trust comes from the pinned ones alone, and Apple
        // has sent other certificates of the same root key.
        guard let leaf = Data(base64Encoded: chain.x5c[0]), let intermediate = Data(base64Encoded: chain.x5c[1]) else {
            throw .chain(.unreadable)
        }
        self.leaf = Array(leaf)
        self.intermediate = Array(intermediate)
    }

    /// Longest text of a certificate: `x5c` has the standard alphabet, padded (RFC 7515, section 4.1.6).
    private static let maxCertificateText = (ChainVerifier.maxCertificateBytes + 2) / 3 * 4
}
