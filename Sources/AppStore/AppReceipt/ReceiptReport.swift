import Contract

/// A check that a receipt goes through, in this order; what fails one goes no further. The raw values are what reports
/// say.
public enum ReceiptStep: String, Sendable, CaseIterable {
    /// A PKCS#7 container of a receipt's attributes, which say when it was made.
    case form
    /// One signer, in a form that is known.
    case signer
    /// The signer's certificates lead to a pinned root.
    case certificates
    /// The certificates were valid when it was made.
    case validity
    /// The digest is one that Apple signed at that time.
    case digest
    /// The signature is the certified key's, over the attributes.
    case signature
    /// It is of the App Store or its sandbox.
    case environment
    /// The purchases in it have all that a grant needs.
    case purchases
}

/// Step by step, what was found about a text that should be a receipt: for people.
public struct ReceiptReport: Hashable, Sendable {
    /// One check and its end.
    public struct Check: Hashable, Sendable {
        public let step: ReceiptStep
        public let outcome: SignedTransactionReport.Outcome
        /// One sentence for people; empty for a check that was skipped. Holds nothing secret.
        public let detail: String
    }

    /// All steps, in their order.
    public let checks: [Check]
    /// The receipt, if the text is one, even if Apple did not sign it.
    public let receipt: AppReceipt?

    /// Whether every check passed.
    public var isPassed: Bool { checks.allSatisfy { $0.outcome == .passed } }

    /// A report of one failed step, or of none.
    init(receipt: AppReceipt?, failure: (step: ReceiptStep, detail: String)?) {
        self.receipt = receipt
        let steps = ReceiptStep.allCases
        let end = failure.flatMap { steps.firstIndex(of: $0.step) } ?? steps.endIndex
        checks = steps.indices.map { index in
            if index == end, let failure { return Check(step: steps[index], outcome: .failed, detail: failure.detail) }
            guard index < end, let receipt else { return Check(step: steps[index], outcome: .skipped, detail: "") }
            return Check(step: steps[index], outcome: .passed, detail: steps[index].passed(by: receipt))
        }
    }
}

extension ReceiptVerifier {
    /// The checks that granting a receipt makes, each with how it ended.
    ///
    /// - Parameter base64: in any of the forms that ``ReceiptText`` takes.
    public func explain(base64: String) -> ReceiptReport {
        let receipt: AppReceipt
        do throws(AppReceiptError) {
            receipt = try AppReceipt.parse(base64: base64)
        } catch {
            return ReceiptReport(receipt: nil, failure: (.form, error.detail))
        }
        do throws(ReceiptSignatureError) {
            try verify(receipt)
        } catch {
            return ReceiptReport(receipt: receipt, failure: (error.step, error.detail))
        }
        return ReceiptReport(receipt: receipt, failure: receipt.failureOfContents)
    }
}

extension ReceiptSignatureError {
    /// The step that a receipt with this error does not pass.
    fileprivate var step: ReceiptStep {
        switch self {
        case .wrongContentType, .noCreationDate: .form
        case .signerUnreadable: .signer
        case .certificatesUnreadable, .signerUnknown, .issuerUnknown, .chain: .certificates
        case .outsideValidity: .validity
        case .weakDigest: .digest
        case .wrongDigest, .wrongKey, .wrongSignature: .signature
        }
    }
}

extension AppReceipt {
    /// The fault of a receipt of Apple's that keeps its purchases from being granted; nil if there is none.
    fileprivate var failureOfContents: (step: ReceiptStep, detail: String)? {
        let environment: Environment
        switch origin {
        case .production: environment = .production
        case .sandbox: environment = .sandbox
        case .xcode: return (.environment, "The receipt is of StoreKit testing in Xcode.")
        case .other, nil: return (.environment, "The receipt is of an environment that is not known.")
        }
        let lacking = purchaseSets.count { ReceiptPurchase($0)?.purchase(in: environment) == nil }
        guard lacking > 0 else { return nil }
        return (.purchases, "\(lacking) of \(purchaseSets.count) purchases in it lack what a grant needs.")
    }
}

extension ReceiptStep {
    /// One sentence on a receipt that passed.
    fileprivate func passed(by receipt: AppReceipt) -> String {
        switch self {
        case .form: "A PKCS#7 container of \(receipt.signedData.payload.count) bytes of receipt attributes."
        case .signer: "It names one signer."
        case .certificates: "They lead to a pinned root and are for App Store data."
        case .validity: "Made at \(receipt.createdAt?.rfc3339 ?? ""), when the certificates were valid."
        case .digest: "The digest is one that Apple signed at that time."
        case .signature: "The certified key signed what the receipt holds."
        case .environment: "It is of the App Store or its sandbox."
        case .purchases: "Of its purchases, which are \(receipt.purchaseSets.count), all have what a grant needs."
        }
    }
}
