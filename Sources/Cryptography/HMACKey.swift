internal import CLibcrypto
internal import Synchronization

/// A key for HMAC-SHA-256 (RFC 2104), prepared once.
///
/// The key is never part of a description.
///
/// `@unchecked Sendable`: the `EVP_MAC_CTX` is used by one thread at a time, under `lock`. It is freed once, at the end
/// of this object's life.
public final class HMACKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let context: OpaquePointer
    private let lock = Mutex(())

    /// - Parameter key: Any number of bytes; RFC 2104 recommends at least 32. Nil if it is empty.
    public init?(_ key: some Collection<UInt8>) {
        guard !key.isEmpty, let context = EVP_MAC_CTX_new(OpenSSL.hmac.pointer) else { return nil }
        let isKeyed = withContiguousBytes(of: key) { Self.start(context, key: $0) }
        guard isKeyed else {
            EVP_MAC_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        self.context = context
    }

    deinit {
        EVP_MAC_CTX_free(context)
    }

    /// The 32 bytes of the code.
    public func authenticationCode(for bytes: some Collection<UInt8>) -> SHA256Digest {
        withContiguousBytes(of: bytes) { bytes in
            lock.withLock { _ in
                SHA256Digest { output in
                    let input = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    let destination = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    var count = 0
                    // No key: the one that the context has stays, and its inner state starts anew.
                    let isDone =
                        EVP_MAC_init(context, nil, 0, nil) == 1
                        && (bytes.isEmpty || EVP_MAC_update(context, input, bytes.count) == 1)
                        && EVP_MAC_final(context, destination, &count, output.count) == 1
                    precondition(isDone && count == output.count, "OpenSSL could not compute an authentication code")
                }
            }
        }
    }

    /// Whether the code is the one for these bytes, compared in constant time.
    public func isValid(_ code: some Collection<UInt8>, for bytes: some Collection<UInt8>) -> Bool {
        guard code.count == SHA256Digest.byteCount else { return false }
        return authenticationCode(for: bytes).withUnsafeBytes { expected in
            withContiguousBytes(of: code) { CRYPTO_memcmp(expected.baseAddress, $0.baseAddress, expected.count) == 0 }
        }
    }

    private static func start(_ context: OpaquePointer, key: UnsafeRawBufferPointer) -> Bool {
        OSSL_MAC_PARAM_DIGEST.withCString { name in
            var digest = Array("SHA2-256".utf8CString)
            return digest.withUnsafeMutableBufferPointer { digest in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(name, digest.baseAddress, 0), OSSL_PARAM_construct_end(),
                ]
                let bytes = key.baseAddress?.assumingMemoryBound(to: UInt8.self)
                return EVP_MAC_init(context, bytes, key.count, parameters) == 1
            }
        }
    }

    public var description: String { "HMACKey" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
