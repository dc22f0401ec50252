import AppStore
import AppStoreSimulator
import Foundation
import Glibc
import Purchases

/// What a signed transaction costs to verify, with its chain of certificates remembered and without.
struct VerificationCost: Codable, Sendable {
    /// CPU time of one verification by a verifier that knows the chain.
    let warmMicroseconds: Double
    /// The same by one that does not.
    let coldMicroseconds: Double

    private static let warmCount = 10_000
    private static let coldCount = 200

    /// Measures both in this process; nothing else runs in it meanwhile.
    static func measure() throws -> VerificationCost {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let authority = try SimulatorAuthority(now: Date())
        let factory = try SignedTransactionFactory(authority: authority)
        let roots = try TrustedRoots(pem: authority.rootsPEM)
        let texts = try (0..<warmCount).map { index in
            try factory.signed(
                TransactionSpecification(
                    SimulatedPurchase(
                        transactionID: TransactionID(String(2_000_000_000 + index)), productID: "gems",
                        purchasedAt: now), bundleID: "com.example.game", environment: .production),
                signedAt: now)
        }
        let verifier = SignedTransactionVerifier(roots: roots)
        _ = try verifier.verify(texts[0], now: now)
        let warm = try cpuMicroseconds(over: warmCount) { _ = try verifier.verify(texts[$0], now: now) }
        let cold = try cpuMicroseconds(over: coldCount) {
            _ = try SignedTransactionVerifier(roots: roots).verify(texts[$0], now: now)
        }
        return VerificationCost(warmMicroseconds: warm, coldMicroseconds: cold)
    }

    /// For people.
    var text: String {
        String(
            format: "verifying alone: %.1f us with the chain remembered, %.0f us without (%.1f times)",
            warmMicroseconds, coldMicroseconds, coldMicroseconds / warmMicroseconds)
    }

    private static func cpuMicroseconds(over count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        let start = clock()
        for index in 0..<count { try body(index) }
        return Double(clock() - start) / Double(CLOCKS_PER_SEC) / Double(count) * 1e6
    }
}
