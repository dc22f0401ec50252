import Crypto
import Foundation
import Glibc

/// The limit that signed transactions are measured against: P-256 verifications by swift-crypto, and nothing else.
enum RawVerification {
    static let count = 10_000
    /// As long as what is signed of a signed transaction.
    private static let signedBytes = 4_400

    /// CPU time for one verification of a key and signature that are parsed already, in microseconds.
    static func microseconds() throws -> Double {
        let key = P256.Signing.PrivateKey()
        let message = Data((0..<signedBytes).map { UInt8(truncatingIfNeeded: $0) })
        let signature = try key.signature(for: message)
        let publicKey = key.publicKey
        var valid = 0
        let start = clock()
        for _ in 0..<count where publicKey.isValidSignature(signature, for: message) { valid += 1 }
        // CPU time of the process (clock(3)); nothing else runs in it by then.
        let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        guard valid == count else { throw BenchProcess.Failure.ended("a valid signature was refused") }
        return seconds / Double(count) * 1e6
    }
}
