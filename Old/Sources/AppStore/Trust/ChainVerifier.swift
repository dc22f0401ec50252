import Purchases
import SwiftASN1
import X509

/// A chain that holds: the key at its end, and when it may have signed.
struct VerifiedChain: Sendable {
    let key: Certificate.PublicKey
    /// When root, intermediate and leaf are all valid. What the key signed outside of it does not count.
    let validity: ClosedRange<Timestamp>
}

/// Verifies the certificates that App Store data is signed with: a leaf, issued by an intermediate, issued by a pinned
/// root, both with Apple's markers.
///
/// The path is known beforehand, three certificates in this order, so there is none to be searched for; each link is
/// verified by swift-certificates. Its `Verifier` would judge the validity against one moment, and is asynchronous for the
/// sake of revocation checks over the network, of which there are none here: the result is kept and used for as long as
/// the certificates are valid, by callers that hold the moment of signing against it. The rules are those of RFC 5280,
/// section 6.1, for a path of this length; an extension that would need more of them, such as constraints on names, is
/// critical where it counts, and then the certificate is refused.
///
/// Markers: [Validating receipts on the device](https://developer.apple.com/documentation/appstorereceipts/validating_receipts_on_the_device)
/// and Apple's certification practice statement for Worldwide Developer Relations.
struct ChainVerifier: Sendable {
    /// Largest certificate that is read; Apple's have about 1 KB.
    static let maxCertificateBytes = 8 << 10

    /// Apple's intermediates for developer relations.
    private static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]
    /// Apple's leaves that sign receipts and transactions of the App Store.
    private static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]

    /// Critical extensions that are looked at here.
    private static let understood: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, intermediateMarker, leafMarker,
    ]

    let roots: TrustedRoots

    /// Verifies a chain, given as DER. The root that a sender presents is not asked for.
    func verify(leaf: ArraySlice<UInt8>, intermediate: ArraySlice<UInt8>) throws(ChainError) -> VerifiedChain {
        let leaf = try Self.read(leaf)
        let intermediate = try Self.read(intermediate)
        // The cheap checks first: a signature on P-384 costs a thousand times as much.
        try Self.check(leaf: leaf)
        try Self.check(intermediate: intermediate)
        guard leaf.issuer == intermediate.subject else { throw .broken }
        let candidates = roots.certificates.filter { $0.subject == intermediate.issuer }
        guard
            let root = candidates.first(where: {
                $0.publicKey.isValidSignature(intermediate.signature, for: intermediate)
            })
        else { throw .untrusted }
        guard intermediate.publicKey.isValidSignature(leaf.signature, for: leaf) else { throw .broken }
        guard let validity = Self.intersection([root, intermediate, leaf]) else { throw .neverValid }
        return VerifiedChain(key: leaf.publicKey, validity: validity)
    }

    private static func read(_ der: ArraySlice<UInt8>) throws(ChainError) -> Certificate {
        guard der.count <= maxCertificateBytes else { throw .tooLarge }
        guard let certificate = try? Certificate(derEncoded: Array(der)), certificate.version == .v3 else {
            throw .unreadable
        }
        let unknown = certificate.extensions.contains { $0.critical && !understood.contains($0.oid) }
        guard !unknown else { throw .unknownCriticalExtension }
        return certificate
    }

    private static func check(intermediate: Certificate) throws(ChainError) {
        guard intermediate.isAuthority(over: 0) else { throw .wrongRole }
        guard intermediate.allows(\.keyCertSign) else { throw .wrongUsage }
        guard intermediate.extensions[oid: intermediateMarker] != nil else { throw .wrongPurpose }
    }

    private static func check(leaf: Certificate) throws(ChainError) {
        // Constraints that cannot be read may say anything.
        guard let constraints = try? leaf.extensions.basicConstraints ?? .notCertificateAuthority,
            constraints == .notCertificateAuthority
        else { throw .wrongRole }
        guard leaf.allows(\.digitalSignature) else { throw .wrongUsage }
        guard leaf.extensions[oid: leafMarker] != nil else { throw .wrongPurpose }
    }

    private static func intersection(_ certificates: [Certificate]) -> ClosedRange<Timestamp>? {
        var first = Timestamp(milliseconds: .min)
        var last = Timestamp(milliseconds: .max)
        for certificate in certificates {
            guard let validity = certificate.validity else { return nil }
            first = max(first, validity.lowerBound)
            last = min(last, validity.upperBound)
        }
        return first <= last ? first...last : nil
    }
}
