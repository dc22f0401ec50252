/// A check that a signed transaction goes through, in this order; what fails one goes no further. The raw values are what
/// reports say.
public enum VerificationStep: String, Sendable, CaseIterable {
    /// Size, and three parts with dots between them.
    case form
    /// Algorithm, certificates, nothing that is not allowed.
    case header
    /// The certificates lead to a pinned root.
    case certificates
    /// The signature is the certified key's, over header and payload.
    case signature
    /// The payload can be read, and is one of a transaction.
    case payload
    /// The certificates were valid when it was signed.
    case validity
    /// It was not signed in the future.
    case clock
    /// It is of the App Store or its sandbox.
    case environment
    /// The transaction has all that a grant needs.
    case purchase
}

/// Is told of every step that a transaction passed.
///
/// The verifier is generic over it, so that explaining a transaction runs the very checks that granting one does, and
/// granting pays nothing for it.
protocol VerificationTrace {
    mutating func passed(_ step: VerificationStep, _ detail: @autoclosure () -> String)
}

/// Nobody asks.
struct NoTrace: VerificationTrace {
    func passed(_ step: VerificationStep, _ detail: @autoclosure () -> String) {}
}

/// Keeps what was passed.
struct StepTrace: VerificationTrace {
    private(set) var steps: [(step: VerificationStep, detail: String)] = []

    mutating func passed(_ step: VerificationStep, _ detail: @autoclosure () -> String) {
        steps.append((step, detail()))
    }
}
