public import CertificateMaking
internal import Cryptography

/// The certificates that a receipt or signed data carries, in DER, as Apple marks them.
public struct SigningChain: Sendable {
    public let leaf: [UInt8]
    public let intermediate: [UInt8]
    public let root: [UInt8]

    /// Leaf first, as a JWS and a receipt have them.
    var certificates: [[UInt8]] { [leaf, intermediate, root] }

    init(leaf: [UInt8], intermediate: [UInt8], root: [UInt8]) {
        self.leaf = leaf
        self.intermediate = intermediate
        self.root = root
    }

    /// The certificates of a chain, signed once.
    public init(_ chain: CertificateChain) throws(MakingFailed) {
        leaf = try chain.leafDER
        intermediate = try chain.intermediateDER
        root = try chain.rootDER
    }
}

/// A certificate in PEM; nil for bytes that are none.
func pem(_ certificate: [UInt8]) -> String? {
    try? Certificate(der: certificate).pem
}
