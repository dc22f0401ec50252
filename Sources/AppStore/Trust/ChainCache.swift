import Cryptography
import Synchronization

/// Remembers which chains hold, so that thousands of signatures by one leaf cost one verification of its chain.
///
/// Two bounded lists, so that neither can push entries out of the other. Chains that hold are as many as Apple has leaves;
/// others cannot be made, but a certificate's ECDSA signature has a second valid form, so each has a few spellings, and
/// the one that was used least gives way. Chains that do not hold can be made by anybody. May be used by all threads at
/// once.
final class ChainCache: Sendable {
    /// Most chains that hold. Apple signs with one or two leaves at a time, each for two years.
    static let maxGood = 32
    /// Most chains that do not hold. Of a flood of more each costs a verification, and no memory.
    static let maxBad = 1024

    /// Look-ups so far.
    struct Statistics: Hashable, Sendable {
        /// Answered from memory, whether or not the chain holds.
        var hits = 0
        /// Verified.
        var misses = 0
    }

    private typealias Key = SHA256Digest

    private struct State {
        var good: [Key: (chain: VerifiedChain, uses: Int)] = [:]
        var bad: [Key: ChainError] = [:]
        /// The keys of `bad`. Once it is full a ring, whose oldest key is at `oldestBad`.
        var badKeys: [Key] = []
        var oldestBad = 0
        var statistics = Statistics()
    }

    private let verifier: ChainVerifier
    private let state = Mutex(State())

    init(roots: TrustedRoots) {
        verifier = ChainVerifier(roots: roots)
    }

    /// Chains that are remembered.
    var counts: (good: Int, bad: Int) { state.withLock { ($0.good.count, $0.bad.count) } }

    var statistics: Statistics { state.withLock { $0.statistics } }

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
                state.statistics.hits += 1
                state.good[key]?.uses += 1
                return .success(entry.chain)
            }
            if let error = state.bad[key] {
                state.statistics.hits += 1
                return .failure(error)
            }
            state.statistics.misses += 1
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
