internal import FoundationEssentials

/// Makes App Store receipts that an authority signs, of Apple's shape: CMS SignedData with the chain's certificates
/// around a SET of attributes. May be used from any number of threads at once.
public struct ReceiptFactory: Sendable {
    /// Bytes that a receipt may be asked to have at most.
    public static let sizeLimit = 4 << 20
    /// Purchases that a receipt may hold at most.
    public static let purchaseLimit = 5000

    let signer: ReceiptSigner
    /// Bytes around an empty payload.
    private let envelopeSize: Int

    /// A factory of receipts signed by an authority.
    ///
    /// - Throws: ``ReceiptFactoryError/signingFailed(_:)``.
    public init(authority: SimulatorAuthority) throws(ReceiptFactoryError) {
        signer = try ReceiptSigner(authority: authority)
        envelopeSize = try signer.receipt(holding: []).count
    }

    /// The receipt, DER.
    ///
    /// The payload follows from the specification alone; the signature is drawn anew each time if it is ECDSA.
    ///
    /// - Throws: ``ReceiptFactoryError``.
    public func receipt(_ specification: ReceiptSpecification) throws(ReceiptFactoryError) -> [UInt8] {
        guard specification.purchases.count <= Self.purchaseLimit else {
            throw .tooManyPurchases(limit: Self.purchaseLimit)
        }
        guard specification.targetSize ?? 0 <= Self.sizeLimit else { throw .tooLarge(limit: Self.sizeLimit) }
        let size = specification.targetSize.map { $0 - envelopeSize }
        return try signer.receipt(holding: ReceiptPayload.bytes(of: specification, fillingTo: size))
    }

    /// The receipt in base64, as apps send it: standard alphabet, padded, on one line.
    ///
    /// - Throws: ``ReceiptFactoryError``.
    public func base64(_ specification: ReceiptSpecification) throws(ReceiptFactoryError) -> String {
        Data(try receipt(specification)).base64EncodedString()
    }
}

/// Why a receipt is not made. Each says what to do about it.
public enum ReceiptFactoryError: Error, Hashable, CustomStringConvertible {
    /// Ask for a smaller `targetSize`.
    case tooLarge(limit: Int)
    /// Ask for fewer purchases.
    case tooManyPurchases(limit: Int)
    /// OpenSSL refused the authority's key: make a new authority.
    case signingFailed(String)

    public var description: String {
        switch self {
        case .tooLarge(let limit): "a receipt has at most \(limit) bytes"
        case .tooManyPurchases(let limit): "a receipt has at most \(limit) purchases"
        case .signingFailed(let what): "OpenSSL made no \(what)"
        }
    }
}
