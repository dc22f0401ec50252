internal import CLibcrypto

/// Decides whether OpenSSL confirmed a signature.
///
/// Every verification of this module passes through `isConfirmed`, and no other function says that a signature holds.
enum Authenticity {
    /// Set by tests alone: they show that nothing is authentic once OpenSSL refuses everything. It can only refuse.
    @TaskLocal static var refusesEverything = false

    /// - Parameter answer: of `EVP_PKEY_verify` or `X509_verify`: 1 for a signature that holds, 0 for one that does not,
    ///   negative for bytes that are no signature or a check that could not be made.
    static func isConfirmed(_ answer: Int32) -> Bool {
        if answer != 1 { ERR_clear_error() }
        return answer == 1 && !refusesEverything
    }
}
