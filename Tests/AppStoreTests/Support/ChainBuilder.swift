import CertificateMaking
import Contract
import Cryptography

@testable import AppStore

/// Makes a chain like Apple's, or one that differs from it in whatever a test changes.
struct ChainBuilder: Sendable {
    typealias Extension = CertificateTemplate.Extension

    /// The contents of a certificate.
    struct Link: Sendable {
        var subject: String
        var issuer: String
        var key: PrivateKey
        var constraints: Extension?
        var usage: Extension?
        var marker: String?
        var notBefore = ChainBuilder.start
        var notAfter = ChainBuilder.end
        var extensions: [Extension] = []
        var version = 3
        /// Nil for what fits the key that signs.
        var digest: CertificateTemplate.Digest?
        /// The key that signs it; nil is its issuer's.
        var signer: PrivateKey?
    }

    static let start = Fixture.now.advanced(by: .seconds(-86_400 * 400))
    static let end = Fixture.now.advanced(by: .seconds(86_400 * 400))
    static let intermediateMarker = "1.2.840.113635.100.6.2.1"
    static let leafMarker = "1.2.840.113635.100.6.11.1"
    static let unknown = "1.3.6.1.4.1.99999"

    var root = Link(
        subject: "Root", issuer: "Root", key: .new(.p384), constraints: .basicConstraints(isAuthority: true),
        usage: .keyUsage(.keyCertSign, .crlSign))
    var intermediate = Link(
        subject: "Intermediate", issuer: "Root", key: .new(.p384),
        constraints: .basicConstraints(isAuthority: true, pathLength: 0), usage: .keyUsage(.keyCertSign, .crlSign),
        marker: intermediateMarker)
    var leaf: Link
    /// Signs transactions, unless a test gives the leaf another key.
    let signingKey: PrivateKey

    init() {
        signingKey = .new(.p256)
        leaf = Link(
            subject: "Leaf", issuer: "Intermediate", key: signingKey,
            constraints: .basicConstraints(isAuthority: false), usage: .keyUsage(.digitalSignature),
            marker: Self.leafMarker)
    }

    init(_ change: (inout ChainBuilder) -> Void) {
        self.init()
        change(&self)
    }

    func rootCertificate() throws -> Certificate { try Certificate(der: rootDER()) }
    func rootDER() throws -> [UInt8] { try certificate(root, issuerKey: root.key) }
    func intermediateDER() throws -> [UInt8] { try certificate(intermediate, issuerKey: root.key) }
    func leafDER() throws -> [UInt8] { try certificate(leaf, issuerKey: intermediate.key) }

    /// This builder's root as the only one that is trusted.
    func roots() throws -> TrustedRoots { TrustedRoots(certificates: [try rootCertificate()]) }

    private func certificate(_ link: Link, issuerKey: PrivateKey) throws -> [UInt8] {
        var template = CertificateTemplate(
            subject: link.subject, issuer: link.issuer, notBefore: link.notBefore.milliseconds / 1000,
            notAfter: link.notAfter.milliseconds / 1000)
        template.version = link.version
        template.digest = link.digest
        template.extensions = [
            link.constraints, link.usage, link.marker.map { Extension($0, value: DER.null) },
        ].compactMap(\.self)
        template.extensions += link.extensions
        return try template.certificate(for: link.key.publicKey, signedBy: link.signer ?? issuerKey)
    }
}

extension PrivateKey {
    /// A new key. Tests end where none can be made.
    static func new(_ kind: KeyKind) -> PrivateKey {
        do {
            return try make(kind)
        } catch {
            fatalError("\(error)")
        }
    }
}
