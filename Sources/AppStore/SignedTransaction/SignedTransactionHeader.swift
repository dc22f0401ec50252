import Contract
import FoundationEssentials

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
