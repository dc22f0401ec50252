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
        try microseconds(signatures: 1)
    }

    /// The same for signatures that differ, as Apple's do: of a single one the processor learns every branch.
    static func microsecondsOfDifferent() throws -> Double {
        try microseconds(signatures: 1000)
    }

    private static func microseconds(signatures: Int) throws -> Double {
        let key = P256.Signing.PrivateKey()
        let messages = (0..<signatures).map { number in
            Data((0..<signedBytes).map { UInt8(truncatingIfNeeded: $0 &+ number &* 7) })
        }
        let signed = try messages.map { (message: $0, signature: try key.signature(for: $0)) }
        let publicKey = key.publicKey
        var valid = 0
        let start = clock()
        for index in 0..<count {
            let (message, signature) = signed[index % signatures]
            if publicKey.isValidSignature(signature, for: message) { valid += 1 }
        }
        // CPU time of the process (clock(3)); nothing else runs in it by then.
        let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        guard valid == count else { throw BenchFailure(description: "a valid signature was refused") }
        return seconds / Double(count) * 1e6
    }
}
