import Contract
import Cryptography
import Synchronization

/// A chain that holds: the key at its end, and when it may have signed.
struct VerifiedChain: Sendable {
    let key: PublicKey
    /// When root, intermediate and leaf are all valid. Signatures made outside of it do not count.
    let validity: ClosedRange<Timestamp>
    /// Whether leaf or intermediate are signed over a SHA-1 digest, which counts for old receipts alone.
    let isSignedWithSHA1: Bool
    /// The fault that this version, or its configuration, finds in a chain of Apple's own. Nothing that its key signed
    /// is granted then, nor called made-up.
    let objection: ChainError?
}

/// Verifies the certificates that sign App Store data: a leaf, issued by an intermediate, issued by a pinned root. Leaf
/// and intermediate must carry Apple's markers.
///
/// The path always has three certificates in this order, so no path is searched. OpenSSL reads the certificates and
/// verifies each signature. Its `X509_verify_cert` accepts chains of any length, leaves that are authorities and
/// certificates without markers. It also checks the validity at one moment. Here callers keep the result for as long as
/// the certificates are valid, and compare it with the moment of signing. The rules are those of RFC 5280, section 6.1,
/// for a path of this length. A certificate with an unknown critical extension, such as constraints on names, is
/// refused. No network is used.
///
/// Of what Apple's root and Apple's intermediate have signed as a leaf of the App Store a fault is no proof against it.
/// Apple may have changed a form, or the roots in the configuration are others. Such a chain has an objection. A leaf
/// without Apple's marker is refused: each developer can have one that Apple's roots lead to.
///
/// Markers: [Validating receipts on the
/// device](https://developer.apple.com/documentation/appstorereceipts/validating_receipts_on_the_device) and Apple's
/// certification practice statement for Worldwide Developer Relations.
struct ChainVerifier: Sendable {
    /// Largest certificate that is read, in bytes; Apple's have about 1 KB.
    static let maxCertificateBytes = Certificate.maxBytes

    /// Apple's intermediates for developer relations.
    private static let intermediateMarker = "1.2.840.113635.100.6.2.1"
    /// Apple's leaves that sign receipts and transactions of the App Store.
    private static let leafMarker = "1.2.840.113635.100.6.11.1"
    private static let basicConstraints = "2.5.29.19"
    private static let keyUsage = "2.5.29.15"

    /// Critical extensions that are looked at here.
    private static let understood = [basicConstraints, keyUsage, intermediateMarker, leafMarker]

    let roots: TrustedRoots
    /// Roots of Apple's that are not pinned.
    private let others: [Certificate]

    /// - Parameter builtIn: Apple's roots, which a file in the configuration replaces.
    init(roots: TrustedRoots, builtIn: TrustedRoots? = try? .apple()) {
        self.roots = roots
        let pinned = roots.certificates.map(\.der)
        others = builtIn.map { $0.certificates.filter { !pinned.contains($0.der) } } ?? []
    }

    /// Verifies a chain, given as DER. The root that a sender presents is not asked for.
    func verify(leaf: ArraySlice<UInt8>, intermediate: ArraySlice<UInt8>) throws(ChainError) -> VerifiedChain {
        let leaf = try Self.read(leaf)
        let intermediate = try Self.read(intermediate)
        var objection = Self.objection(leaf, intermediate)
        // The cheap checks first: a signature on P-384 costs a thousand times as much.
        if let objection, !leaf.hasExtension(Self.leafMarker) { throw objection }
        guard leaf.issuer == intermediate.subject else { throw objection ?? .broken }
        guard [leaf, intermediate].allSatisfy({ $0.signatureAlgorithm != nil }) else {
            throw objection ?? .unknownAlgorithm
        }
        let root: Certificate
        if let pinned = try Self.issuer(of: intermediate, among: roots.certificates) {
            root = pinned
        } else if let other = try Self.issuer(of: intermediate, among: others) {
            (root, objection) = (other, objection ?? .rootNotPinned)
        } else {
            throw objection ?? .untrusted
        }
        guard try Self.holds(leaf.answer(signedBy: intermediate.publicKey)) else { throw objection ?? .broken }
        // It would be remembered without what checks its signatures.
        guard leaf.publicKey.isReady else { throw .unchecked }
        guard let validity = Self.intersection([root, intermediate, leaf]) else { throw .neverValid }
        return VerifiedChain(
            key: leaf.publicKey, validity: validity,
            isSignedWithSHA1: [leaf, intermediate].contains { $0.signatureAlgorithm == .rsaWithSHA1 },
            objection: objection)
    }

    /// The root that signed an intermediate. Several may have its name, where a root was renewed.
    private static func issuer(
        of intermediate: Certificate, among roots: [Certificate]
    ) throws(ChainError) -> Certificate? {
        for root in roots where root.subject == intermediate.issuer {
            if try holds(intermediate.answer(signedBy: root.publicKey)) { return root }
        }
        return nil
    }

    private static func holds(_ answer: SignatureAnswer) throws(ChainError) -> Bool {
        switch answer {
        case .holds: true
        case .fails: false
        case .unchecked: throw .unchecked
        }
    }

    private static func read(_ der: ArraySlice<UInt8>) throws(ChainError) -> Certificate {
        guard der.count <= maxCertificateBytes else { throw .tooLarge }
        let certificate: Certificate
        do throws(CertificateUnreadable) {
            certificate = try Certificate(der: der)
        } catch {
            throw error.isForLackOfMemory ? .unchecked : .unreadable
        }
        return certificate
    }

    /// The first rule of ours that a chain breaks.
    private static func objection(_ leaf: Certificate, _ intermediate: Certificate) -> ChainError? {
        let unknown = (leaf.extensions + intermediate.extensions).contains {
            $0.isCritical && !understood.contains($0.identifier)
        }
        if unknown { return .unknownCriticalExtension }
        guard !leaf.isAuthority else { return .wrongRole }
        guard leaf.allows(.digitalSignature) else { return .wrongUsage }
        guard leaf.hasExtension(leafMarker) else { return .wrongPurpose }
        guard intermediate.isAuthority(over: 0) else { return .wrongRole }
        guard intermediate.allows(.keyCertSign) else { return .wrongUsage }
        guard intermediate.hasExtension(intermediateMarker) else { return .wrongPurpose }
        return nil
    }

    private static func intersection(_ certificates: [Certificate]) -> ClosedRange<Timestamp>? {
        var first = Int64.min
        var last = Int64.max
        for certificate in certificates {
            guard let validity = certificate.validity else { return nil }
            first = max(first, validity.lowerBound)
            last = min(last, validity.upperBound)
        }
        // ASN.1 has years up to 9999, so milliseconds do not overflow.
        return first <= last ? Timestamp(milliseconds: first * 1000)...Timestamp(milliseconds: last * 1000) : nil
    }
}

extension Certificate {
    /// Whether it may issue others (RFC 5280, section 4.2.1.9).
    /// - Parameter intermediates: how many certificates of other authorities stand between it and the leaf.
    func isAuthority(over intermediates: Int) -> Bool { isAuthority && intermediates <= pathLength ?? intermediates }

    /// Whether its key may be used so (RFC 5280, section 4.2.1.3). A certificate that does not say may be used for
    /// everything.
    func allows(_ usage: KeyUsage) -> Bool { keyUsage?.contains(usage) ?? true }
}

/// Why a chain of certificates proves nothing. The same certificates give the same error for ever, so the evidence that
/// carries them is to be rejected. One case is an exception and says so.
public enum ChainError: String, Error, Hashable, Sendable, CaseIterable {
    /// A certificate of more than ``ChainVerifier/maxCertificateBytes``.
    case tooLarge = "A certificate is larger than a certificate can be."
    case unreadable = "A certificate cannot be read."
    /// A certificate is signed by an algorithm that is weak, or that this version does not know.
    case unknownAlgorithm = "A certificate is signed in a way that is not known."
    /// No root of Apple's, and no pinned one, issued the intermediate, so Apple did not sign.
    case untrusted = "The certificates do not chain to a root of Apple's."
    /// The intermediate did not issue the leaf.
    case broken = "The certificates do not form a chain."
    /// The intermediate may not issue certificates, or the leaf may.
    case wrongRole = "A certificate has a role in the chain that it may not have."
    /// A certificate's key may not sign this.
    case wrongUsage = "A certificate may not be used for what it was used for."
    /// One of Apple's markers is missing: Apple issued it, for another purpose.
    case wrongPurpose = "The certificates are Apple's, but not those that sign App Store data."
    /// A critical extension that is not understood (RFC 5280, section 4.2: such a certificate must be refused).
    case unknownCriticalExtension = "A certificate has a critical extension that is not understood."
    case neverValid = "The certificates are never valid at the same time."
    /// A certificate is signed over a SHA-1 digest, where that does not count.
    case weakSignature = "A certificate is signed in a way that Apple gave up."
    /// Apple made it, and a file in the configuration replaces Apple's roots.
    case rootNotPinned = "GRANTOR_APPLE_ROOT_CERTIFICATES names other roots than the one of Apple's that it chains to."
    /// A signature could not be checked, which says nothing about the chain. It is never remembered.
    case unchecked = "A certificate's signature cannot be checked on this host now."

    public var detail: String { rawValue }

    /// Why evidence waits whose certificates have this objection.
    var holdCause: HoldCause { self == .rootNotPinned ? .signatureUnchecked : .unknownAnswer }

    /// Whether it is proven that Apple did not sign, as in ``ReceiptSignatureError/provesForgery``.
    var provesForgery: Bool {
        switch self {
        // Read in full, and signed by none of Apple's roots.
        case .untrusted: true
        // Larger than today's, or in a form that is not read.
        case .tooLarge, .unreadable: false
        // An algorithm or a critical extension of a later day.
        case .unknownAlgorithm, .unknownCriticalExtension: false
        // The issuer's other certificate of that name may be missing.
        case .broken: false
        // Roles, uses and markers are Apple's to change. Nothing has been said of who signed.
        case .wrongRole, .wrongUsage, .wrongPurpose: false
        // About moments and digests, which need no forgery.
        case .neverValid, .weakSignature: false
        case .unchecked, .rootNotPinned: false
        }
    }
}

/// Remembers which chains are valid, so that thousands of signatures by one leaf cost one verification of its chain.
///
/// There are two bounded lists, so that neither can evict entries of the other. Apple has few leaves, so valid chains
/// are few. A certificate's ECDSA signature has a second valid form, so each chain has a few spellings. The least used
/// one is evicted. Anybody can make invalid chains. All threads may use the cache at once.
final class ChainCache: Sendable {
    /// Most chains that hold. Apple signs with one or two leaves at a time, each for two years.
    static let maxGood = 32
    /// Most chains that do not hold. In a flood each further chain costs a verification, and no memory.
    static let maxBad = 1024

    private typealias Key = SHA256Digest

    private struct State {
        var good: [Key: (chain: VerifiedChain, uses: Int)] = [:]
        var bad: [Key: ChainError] = [:]
        /// The keys of `bad`. Once it is full a ring, whose oldest key is at `oldestBad`.
        var badKeys: [Key] = []
        var oldestBad = 0
        var verifications = 0
    }

    private let verifier: ChainVerifier
    private let state = Mutex(State())

    init(roots: TrustedRoots) { verifier = ChainVerifier(roots: roots) }
    var counts: (good: Int, bad: Int) { state.withLock { ($0.good.count, $0.bad.count) } }

    /// How often a chain was not known and had to be verified.
    var verifications: Int { state.withLock { $0.verifications } }

    /// The verified chain, remembered or verified now.
    func chain(leaf: ArraySlice<UInt8>, intermediate: ArraySlice<UInt8>) throws(ChainError) -> VerifiedChain {
        guard leaf.count <= ChainVerifier.maxCertificateBytes, intermediate.count <= ChainVerifier.maxCertificateBytes
        else { throw .tooLarge }
        let key = Self.key(leaf, intermediate)
        if let known = known(key) { return try known.get() }
        // Verified outside of the lock: it takes a millisecond. Two threads may do it for the same chain.
        let result = Result { () throws(ChainError) in try verifier.verify(leaf: leaf, intermediate: intermediate) }
        remember(key, result)
        return try result.get()
    }

    private static func key(_ leaf: ArraySlice<UInt8>, _ intermediate: ArraySlice<UInt8>) -> Key {
        var hash = SHA256()
        // Which bytes belong to which certificate must be part of the key.
        hash.update((0..<8).map { UInt8(truncatingIfNeeded: leaf.count >> ($0 * 8)) })
        hash.update(leaf)
        hash.update(intermediate)
        return hash.finish()
    }

    private func known(_ key: Key) -> Result<VerifiedChain, ChainError>? {
        state.withLock { state in
            if let entry = state.good[key] {
                state.good[key]?.uses += 1
                return .success(entry.chain)
            }
            if let error = state.bad[key] { return .failure(error) }
            state.verifications += 1
            return nil
        }
    }

    private func remember(_ key: Key, _ result: Result<VerifiedChain, ChainError>) {
        state.withLock { state in
            switch result {
            case .success(let chain):
                guard state.good[key] == nil else { return }
                if state.good.count == Self.maxGood, let least = state.good.min(by: { $0.value.uses < $1.value.uses }) {
                    state.good[least.key] = nil
                }
                state.good[key] = (chain, 1)
            case .failure(.unchecked): return
            case .failure(let error):
                guard state.bad.updateValue(error, forKey: key) == nil else { return }
                guard state.badKeys.count == Self.maxBad else { return state.badKeys.append(key) }
                state.bad[state.badKeys[state.oldestBad]] = nil
                state.badKeys[state.oldestBad] = key
                state.oldestBad = (state.oldestBad + 1) % Self.maxBad
            }
        }
    }
}
