import Contract
import Cryptography

/// A key of Apple's, certified and seen to have signed, and when it may have signed.
///
/// May be used by all threads at once.
final class SigningKey: Sendable {
    /// What the key signed outside of it does not count.
    let validity: ClosedRange<Timestamp>
    private let key: PublicKey
    /// The header and the dot behind it: most of what is signed, and the same in every transaction.
    private let beginning: SHA256Prefix

    /// - Parameters:
    ///   - key: on P-256.
    ///   - header: the encoded header that names the key.
    init(key: PublicKey, validity: ClosedRange<Timestamp>, header: ArraySlice<UInt8>) {
        self.key = key
        self.validity = validity
        beginning = SHA256Prefix(header + [UInt8(ascii: ".")])
    }

    /// Whether the key signed its header and a payload.
    ///
    /// - Parameters:
    ///   - payload: encoded.
    ///   - signature: `r` and `s` (RFC 7518, section 3.4); anything else is no signature.
    func signed(payload: ArraySlice<UInt8>, _ signature: [UInt8]) -> Bool {
        key.isValidES256Signature(signature, of: beginning.hash(followedBy: payload))
    }
}
