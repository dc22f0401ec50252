public import Contract

/// Where a receipt was issued.
public enum ReceiptEnvironment: String, Hashable, Sendable, CaseIterable {
    case production
    case sandbox
    /// StoreKit testing in Xcode: signed on the developer's machine, so that Apple's endpoints refuse it.
    case xcode

    /// The environment's name inside a receipt (attribute 0) and in `receipt_type`.
    public var receiptType: String {
        switch self {
        case .production: "Production"
        case .sandbox: "ProductionSandbox"
        case .xcode: "Xcode"
        }
    }

    init?(receiptType: String) {
        guard let match = Self.allCases.first(where: { $0.receiptType == receiptType }) else { return nil }
        self = match
    }
}

/// The contents of a receipt.
public struct ReceiptSpecification: Hashable, Sendable {
    public var bundleID: BundleID
    /// Which endpoint takes it, if any.
    public var environment: ReceiptEnvironment
    /// In the order in which the receipt lists them; may be empty, as Apple's may.
    public var purchases: [SimulatedPurchase]
    /// When the receipt was made; receipts carry whole seconds.
    public var creationDate: Timestamp
    /// Bytes of the whole receipt before base64, met to within 32. If nil, or less than the content needs, the receipt
    /// is as small as it can be. At most ``ReceiptFactory/sizeLimit``.
    public var targetSize: Int?

    /// A receipt of an app.
    public init(
        bundleID: BundleID, environment: ReceiptEnvironment, purchases: [SimulatedPurchase], creationDate: Timestamp,
        targetSize: Int? = nil
    ) {
        self.bundleID = bundleID
        self.environment = environment
        self.purchases = purchases
        self.creationDate = creationDate
        self.targetSize = targetSize
    }
}
