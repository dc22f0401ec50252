public import Cryptography
private import FoundationEssentials

/// A chain like the one that signs Apple's App Store data. Tests change parts of it.
///
///     var chain = try CertificateChain(validity: start...end)
///     chain.leaf.template.extensions = []
///     let unmarked = try chain.leafDER
public struct CertificateChain: Sendable {
    public struct Link: Sendable {
        public var template: CertificateTemplate
        public var key: PrivateKey
        /// The key that signs it; nil for its issuer's.
        public var signer: PrivateKey?

        public init(template: CertificateTemplate, key: PrivateKey, signer: PrivateKey? = nil) {
            self.template = template
            self.key = key
            self.signer = signer
        }
    }

    public var root: Link
    public var intermediate: Link
    public var leaf: Link

    /// A chain of new keys.
    ///
    /// - Parameters:
    ///   - leaf: Apple's leaves are on P-256; those of older receipts are RSA.
    ///   - authorities: of root and intermediate; Apple's are on P-384.
    ///   - validity: of all three certificates, in seconds since 1970.
    ///   - names: of root, intermediate and leaf.
    public init(
        leaf leafKind: KeyKind = .p256, authorities: KeyKind = .p384, validity: ClosedRange<Int64>,
        names: (root: String, intermediate: String, leaf: String) = ("Root", "Intermediate", "Leaf")
    ) throws(MakingFailed) {
        try self.init(
            keys: (.make(authorities), .make(authorities), .make(leafKind)), validity: validity, names: names)
    }

    /// A chain of keys that are there.
    public init(
        keys: (root: PrivateKey, intermediate: PrivateKey, leaf: PrivateKey), validity: ClosedRange<Int64>,
        names: (root: String, intermediate: String, leaf: String) = ("Root", "Intermediate", "Leaf")
    ) {
        func link(
            _ subject: String, _ issuer: String, _ key: PrivateKey, _ extensions: CertificateTemplate.Extension...
        ) -> Link {
            Link(
                template: CertificateTemplate(
                    subject: subject, issuer: issuer, notBefore: validity.lowerBound, notAfter: validity.upperBound,
                    extensions: extensions), key: key)
        }
        root = link(
            names.root, names.root, keys.root, .basicConstraints(isAuthority: true), .keyUsage(.keyCertSign, .crlSign))
        intermediate = link(
            names.intermediate, names.root, keys.intermediate, .basicConstraints(isAuthority: true, pathLength: 0),
            .keyUsage(.keyCertSign, .crlSign), .appleIntermediateMarker)
        leaf = link(
            names.leaf, names.intermediate, keys.leaf, .basicConstraints(isAuthority: false),
            .keyUsage(.digitalSignature), .appleLeafMarker)
    }

    public var rootDER: [UInt8] {
        get throws(MakingFailed) { try der(root, issuer: root) }
    }

    public var intermediateDER: [UInt8] {
        get throws(MakingFailed) { try der(intermediate, issuer: root) }
    }

    public var leafDER: [UInt8] {
        get throws(MakingFailed) { try der(leaf, issuer: intermediate) }
    }

    /// Leaf, intermediate and root, as a header of a signed transaction has them (RFC 7515, section 4.1.6).
    public var x5c: [String] {
        get throws(MakingFailed) {
            try [leafDER, intermediateDER, rootDER].map { Data($0).base64EncodedString() }
        }
    }

    public var rootPEM: String {
        get throws(MakingFailed) {
            do {
                return try Certificate(der: rootDER).pem
            } catch let error as MakingFailed {
                throw error
            } catch {
                throw MakingFailed("PEM")
            }
        }
    }

    private func der(_ link: Link, issuer: Link) throws(MakingFailed) -> [UInt8] {
        try link.template.certificate(for: link.key.publicKey, signedBy: link.signer ?? issuer.key)
    }
}
