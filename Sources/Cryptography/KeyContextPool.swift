internal import CLibcrypto
internal import Synchronization

/// Initialised contexts of one key for one operation.
///
/// OpenSSL searches its providers to initialise a context, so that is done once. A context serves one thread at a time
/// (EVP_PKEY_CTX_new(3)) and may be used again (EVP_PKEY_verify(3)). A copy of an initialised one costs no search.
///
/// `@unchecked Sendable`: `template` is only copied, and `idle` only changed, under the lock. A context is in the list
/// or with the one thread that took it. Each is freed once, at the end or where the list is full.
final class KeyContextPool: @unchecked Sendable {
    /// Most contexts that are kept for later; one for each thread that checks at the same time is enough.
    static let maxIdle = 32

    enum Operation {
        case sign, verify
    }

    private let template: OpaquePointer
    private var idle: [OpaquePointer] = []
    private let lock = Mutex(())

    /// - Parameters:
    ///   - key: an `EVP_PKEY`, which OpenSSL keeps alive for its contexts.
    ///   - digest: the algorithm of the signed digests; others are refused for their length.
    ///   - usesRSA: whether signatures are padded by PKCS#1 v1.5 (RFC 8017, section 8.2).
    /// - Returns: nil if OpenSSL has no such operation for this key.
    init?(key: OpaquePointer, _ operation: Operation, digest: OpenSSL.Fetched, usesRSA: Bool) {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
            ERR_clear_error()
            return nil
        }
        let started =
            switch operation {
            case .sign: EVP_PKEY_sign_init(context)
            case .verify: EVP_PKEY_verify_init(context)
            }
        guard started == 1, !usesRSA || EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1,
            EVP_PKEY_CTX_set_signature_md(context, digest.pointer) == 1
        else {
            EVP_PKEY_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        template = context
    }

    deinit {
        idle.forEach(EVP_PKEY_CTX_free)
        EVP_PKEY_CTX_free(template)
    }

    /// Lends a context to the calling thread.
    /// - Returns: nil if memory is out.
    func withContext<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        guard let context = take() else { return nil }
        defer { giveBack(context) }
        return body(context)
    }

    private func take() -> OpaquePointer? { lock.withLock { _ in idle.popLast() ?? EVP_PKEY_CTX_dup(template) } }

    private func giveBack(_ context: OpaquePointer) {
        let isKept = lock.withLock { _ in
            guard idle.count < Self.maxIdle else { return false }
            idle.append(context)
            return true
        }
        if !isKept { EVP_PKEY_CTX_free(context) }
    }
}
