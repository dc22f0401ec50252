public import Contract

/// A transaction whose signature held. It is Apple's word; whether it may be granted is not decided yet.
public struct SignedTransaction: Hashable, Sendable {
    /// When Apple signed it, which is at every fetch anew.
    public let signedAt: Timestamp
    /// The app; nil where Apple names none, which was seen once in a million.
    public let bundleID: BundleID?
    /// `transactionId`, whether or not the rest can be read.
    public let transactionID: TransactionID?
    /// `environment` as Apple writes it, `Production` or `Sandbox`.
    public let environment: String?
    /// The purchase, or what keeps it from being one.
    public let purchase: Result<Purchase, UnreadablePurchase>
    /// `productId` of what is no purchase.
    private let productIDOfUnreadable: ProductID?
    /// `originalTransactionId` of a purchase that cannot be read.
    let originalIDOfUnreadable: TransactionID?
    /// An understood purchase without what keeps it from being granted.
    let sold: Purchase?

    /// The purchase, if it is understood, whether it can be granted or not.
    var bought: Purchase? { (try? purchase.get()) ?? sold }

    /// `productId`, whether or not the rest can be read.
    var productID: ProductID? { (try? purchase.get())?.productID ?? productIDOfUnreadable }

    /// Reads a payload whose signature was verified.
    /// - Throws: `payloadUnreadable`, `notATransaction`, `noSigningDate`.
    package init(payload json: [UInt8]) throws(SignedTransactionError) {
        let payload = try TransactionPayload(json: json)
        transactionID = payload.text("transactionId").map { TransactionID(reading: $0) }
        guard transactionID != nil || payload.text("purchaseDate") != nil else { throw .notATransaction }
        guard let signedAt = payload.text("signedDate").flatMap(LenientNumber.moment) else { throw .noSigningDate }
        self.signedAt = Timestamp(milliseconds: signedAt)
        bundleID = payload.text("bundleId").map { BundleID($0) }
        environment = payload.text("environment")
        purchase = Result { () throws(UnreadablePurchase) in
            try Purchase(payload, revokedAt: try Purchase.revocation(payload))
        }
        guard case .failure(let reason) = purchase else {
            (productIDOfUnreadable, originalIDOfUnreadable, sold) = (nil, nil, nil)
            return
        }
        sold = reason.passedOver != nil ? try? Purchase(payload, revokedAt: nil) : nil
        productIDOfUnreadable = payload.text("productId").map { ProductID($0) }
        originalIDOfUnreadable = payload.text("originalTransactionId").map { TransactionID(reading: $0) }
    }

    /// Nil where it names none, or one that this version does not know.
    var knownEnvironment: Environment? { environment.flatMap { AppleCodes.environments[$0] } }

    /// Whether it is of Xcode or of local tests, whose signatures are a developer's.
    var isLocalTesting: Bool { environment.map(AppleCodes.localEnvironments.contains) ?? false }
}

extension Purchase {
    /// Reads the purchase from a payload. Members that decide a grant must be readable if they are there.
    fileprivate init(_ payload: TransactionPayload, revokedAt: Timestamp?) throws(UnreadablePurchase) {
        self.init(
            transactionID: try payload.required("transactionId", Self.transaction),
            originalTransactionID: try payload.required("originalTransactionId", Self.transaction),
            webOrderLineItemID: try payload.value("webOrderLineItemId", Self.digits)
                .flatMap(DigitText.withoutLeadingZeros),
            productID: ProductID(try payload.required("productId") { $0 }),
            // Saturates, so that the policy, and not the reader, refuses a number out of range.
            quantity: try payload.value("quantity", LenientNumber.integer) ?? 1,
            environment: try payload.required("environment") { AppleCodes.environments[$0] },
            purchasedAt: try payload.required("purchaseDate", LenientNumber.purchaseMoment),
            expiresAt: try payload.moment("expiresDate"), revokedAt: revokedAt,
            isUpgraded: try payload.value("isUpgraded", LenientNumber.flag) ?? false,
            ownership: try payload.value("inAppOwnershipType") { AppleCodes.ownerships[$0] } ?? .purchased,
            // A token that is no UUID, or the nil UUID, binds nobody.
            appAccountToken: payload.text("appAccountToken").flatMap(Claim.accountToken),
            type: try payload.value("type") { AppleCodes.productTypes[$0] }, payment: Self.payment(payload),
            offer: Self.offer(payload))
    }

    /// When Apple took the whole of it back; nil while it stands.
    ///
    /// A transaction of the Advanced Commerce API has a generic product, and its SKUs have refunds of their own. Only a
    /// refund of the whole transaction is known here.
    fileprivate static func revocation(_ payload: TransactionPayload) throws(UnreadablePurchase) -> Timestamp? {
        guard payload.has("advancedCommerceInfo") else { return try wholeRevocation(payload) }
        guard let moment = try? wholeRevocation(payload) else { throw .advancedCommerce }
        return moment
    }

    /// A purchase that Apple took back has a date. A purchase with other members alone has a form that this version
    /// does not know. Its kind and its part came with version 1.19 of the API, so older ones have neither.
    private static func wholeRevocation(_ payload: TransactionPayload) throws(UnreadablePurchase) -> Timestamp? {
        guard let moment = try payload.moment("revocationDate") else {
            let isRevoked = ["revocationReason", "revocationType", "revocationPercentage"].contains {
                payload.text($0) != nil
            }
            if isRevoked { throw .missing("revocationDate") }
            return nil
        }
        let type = payload.text("revocationType")
        let kind = type.flatMap { AppleCodes.revocations[$0] }
        if kind == .whole { return moment }
        if let part = try payload.value("revocationPercentage", LenientNumber.integer) {
            guard part >= AppleCodes.wholeRefund else { throw .partialRefund(thousandths: part) }
            return moment
        }
        if kind == .part { throw .partialRefund(thousandths: nil) }
        guard type == nil else { throw .unknownForm("revocationType") }
        return moment
    }

    private static func transaction(_ text: String) -> TransactionID? {
        let id = TransactionID(reading: text)
        return id.isWellFormed ? id : nil
    }

    private static func digits(_ text: String) -> String? { DigitText.isDigits(text, atMost: 20) ? text : nil }

    /// Values in another form are left out, so that they cannot lose a purchase.
    private static func payment(_ payload: TransactionPayload) -> Payment? {
        // For several seats Apple's price is the average of a seat; ours is the whole quantity's.
        let price = payload.has("multiSeatInfo") ? nil : payload.text("price").flatMap(milliunits)
        let currency = payload.text("currency").flatMap(threeLetters)
        let storefront = payload.text("storefront").flatMap(threeLetters)
        guard price != nil || currency != nil || storefront != nil else { return nil }
        return Payment(price: price, currency: currency, storefront: storefront)
    }

    /// The offer, of which nothing can lose a purchase either. An offer of a type that this version does not know is
    /// left out.
    private static func offer(_ payload: TransactionPayload) -> Offer? {
        guard let type = payload.text("offerType").flatMap(LenientNumber.integer),
            let kind = AppleCodes.offerTypes[type]
        else { return nil }
        let discountType = payload.text("offerDiscountType").flatMap { AppleCodes.discountTypes[$0] }
        let isTrial = kind == .introductory && discountType == .freeTrial
        return Offer(kind: isTrial ? .trial : kind, discountType: discountType)
    }

    /// Whole thousandths, rounded down; nil for less than nothing.
    private static func milliunits(_ text: String) -> Int64? {
        if let price = Int64(text) { return price < 0 ? nil : price }
        guard let price = Double(text), price >= 0 else { return nil }
        return Int64(exactly: price.rounded(.down))
    }

    private static func threeLetters(_ text: String) -> String? {
        text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) } ? text : nil
    }
}

/// The members of a signed transaction's payload, each read in whatever form it comes.
///
/// [JWSTransactionDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload)
struct TransactionPayload: Sendable {
    private let members: StrictJSON.Members

    init(json: [UInt8]) throws(SignedTransactionError) {
        let object: StrictJSON
        do throws(JSONUnreadable) { object = try StrictJSON(json) } catch { throw .payloadUnreadable }
        // Apple writes none twice, and readers disagree on which of two counts: the next reader of the text must see
        // the same.
        guard object.flaws.isEmpty else { throw .payloadUnreadable }
        members = object.members
    }

    func text(_ name: String) -> String? { members.lenientText(name) }

    /// Whether a member is there, in whatever form.
    func has(_ name: String) -> Bool { members[name] ?? .null != .null }

    /// A moment; nil if it is absent. A date that cannot be read must not count as absent: the purchase may be over or
    /// refunded.
    func moment(_ name: String) throws(UnreadablePurchase) -> Timestamp? {
        try value(name, LenientNumber.purchaseMoment)
    }

    /// A member in a form that is known; nil if it is absent.
    func value<Value>(_ name: String, _ read: (String) -> Value?) throws(UnreadablePurchase) -> Value? {
        guard has(name), members[name] != .string("") else { return nil }
        guard let value = text(name).flatMap(read) else { throw .unknownForm(name) }
        return value
    }

    /// A member without which there is no purchase.
    func required<Value>(_ name: String, _ read: (String) -> Value?) throws(UnreadablePurchase) -> Value {
        guard let value = try value(name, read) else { throw .missing(name) }
        return value
    }
}

/// Apple attests the transaction, and it cannot be granted as it is. That is never the player's fault, so a person must
/// decide.
public enum UnreadablePurchase: Error, Hashable, Sendable {
    /// It lacks what a grant needs, or has it in a form that this version does not know.
    case incomplete
    /// A member that a grant needs is not there.
    case missing(String)
    /// A member that decides a grant is in a form, or of a value, that this version does not know.
    case unknownForm(String)
    /// Bought by the Advanced Commerce API: its product is a generic one, and its SKUs are in no catalogue.
    case advancedCommerce
    /// Apple gave a part of the money back, in thousandths of a percent; nil where it does not say how much.
    case partialRefund(thousandths: Int?)

    var cause: HoldCause {
        switch self {
        case .incomplete, .missing, .unknownForm: .incompleteAnswer
        case .advancedCommerce: .advancedCommerce
        case .partialRefund: .partialRefund
        }
    }

    /// Such a purchase is passed over beside granted ones, as a refunded purchase is. Nil where it is not understood:
    /// it may be anything, and holds whatever else is claimed with it.
    var passedOver: PassedOver.Reason? {
        switch self {
        case .incomplete, .missing, .unknownForm: nil
        case .advancedCommerce: .advancedCommerce
        case .partialRefund: .partialRefund
        }
    }

    public var detail: String {
        switch self {
        case .incomplete: "A purchase that Apple attests lacks what a grant needs."
        case .missing(let member): "The signed transaction has no \(member)."
        case .unknownForm(let member): "The signed transaction's \(member) is of an unknown form."
        case .advancedCommerce: "The purchase is of SKUs of the Advanced Commerce API, which no catalogue has."
        case .partialRefund(let thousandths?): "Apple refunded \(Self.percentage(thousandths)) of the purchase."
        case .partialRefund(nil): "Apple refunded a part of the purchase, and does not say how much."
        }
    }

    /// The same with the names that a person finds the purchase by.
    func detail(of transaction: SignedTransaction) -> String {
        guard let sold = transaction.sold else { return detail }
        return "\(detail) It is transaction \(sold.transactionID), of \(sold.productID)."
    }

    /// Such as `67.932 %`.
    private static func percentage(_ thousandths: Int) -> String {
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
        guard rest > 0 else { return "\(whole) %" }
        var digits = String(1000 + rest).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(whole).\(digits) %"
    }
}

/// Why a text is no transaction that Apple signed. The same text always gives the same error, so its submission is
/// rejected. Five cases are exceptions and say so.
public enum SignedTransactionError: Error, Hashable, Sendable {
    /// More than ``SignedTransactionVerifier/maxBytes``; not looked into.
    case tooLarge
    case notThreeParts
    /// A character that the URL-safe alphabet does not have, padding, or a length that base64 cannot have.
    case notBase64URL
    /// The header is no JSON object, or has a member twice.
    case headerUnreadable
    case wrongAlgorithm
    /// The header names another key, or an extension that would have to be understood.
    case headerRefused
    /// `x5c` is missing, or does not hold three certificates.
    case wrongCertificateCount
    case chain(ChainError)
    case wrongKey
    /// The signature has not 64 bytes, or is none of this key over this text.
    case wrongSignature
    /// A signature could not be checked, which says nothing about the text.
    case unchecked
    /// Apple signed it, and its certificates break a rule of ours. Its payload is not read. A person must look.
    case objection(ChainError)
    /// Signed, and yet its payload is no JSON object of ours, or has a member twice. Apple made it, so a person must
    /// look.
    case payloadUnreadable
    /// Signed, and something else: renewal infos, notifications and app transactions bear signatures of the same key.
    case notATransaction
    /// Signed without a readable moment of signing, by which the certificates' validity would be judged. Apple made it,
    /// so a person must look.
    case noSigningDate
    /// Signed by a key of Apple's before or after its certificates were valid. The clock that signed may be wrong, so a
    /// person must look.
    case outsideValidity
    /// Signed at a moment that has not come: our clock is slow, or the signer's is fast. True from the given moment on.
    case signedAhead(until: Timestamp)
    case localTesting

    /// One sentence for people. Holds nothing of the text.
    public var detail: String {
        switch self {
        case .tooLarge: "The signed transaction is larger than one can be."
        case .notThreeParts: "The signed transaction is no compact JWS of three parts."
        case .notBase64URL: "A part of the signed transaction is not base64url."
        case .headerUnreadable: "The header of the signed transaction cannot be read."
        case .wrongAlgorithm: "The signed transaction is not signed with ES256."
        case .headerRefused: "The header of the signed transaction has a member that is not allowed."
        case .wrongCertificateCount: "The signed transaction does not carry three certificates."
        case .chain(let error): error.detail
        case .wrongKey: "The key of the signed transaction is not on the curve P-256."
        case .wrongSignature: "The signature does not fit the signed transaction."
        case .unchecked: "The signatures of the signed transaction cannot be checked on this host now."
        case .objection(let error): "Apple signed the transaction, and it is not taken. \(error.detail)"
        case .payloadUnreadable: "The payload of the signed transaction cannot be read."
        case .notATransaction: "Apple signed it, and it is no transaction."
        case .noSigningDate: "The signed transaction does not say when it was signed."
        case .outsideValidity: "The transaction was signed when its certificates were not valid."
        case .signedAhead: "The transaction was signed at a moment that has not come yet."
        case .localTesting: "The transaction was made by StoreKit testing in Xcode, not by Apple."
        }
    }

    /// The verdict on a submission with this evidence.
    ///
    /// A valid signature over a future moment means that a clock is wrong, perhaps ours. The purchase is paid, so it is
    /// tried again when the moment has come, however far away.
    public var verdict: Verdict {
        switch self {
        case .signedAhead(let moment): .retry(.signedAhead, notBefore: moment)
        case .payloadUnreadable, .noSigningDate, .outsideValidity: .hold(.unknownAnswer, detail: detail)
        case .objection(let error): .hold(error.holdCause, detail: detail)
        case .unchecked, .chain(.unchecked): .hold(.signatureUnchecked, detail: detail)
        case .localTesting: .rejected(Rejection(.environmentNotAllowed, detail))
        case .tooLarge, .notThreeParts, .notBase64URL, .headerUnreadable, .wrongAlgorithm, .headerRefused,
            .wrongCertificateCount, .chain, .wrongKey, .wrongSignature, .notATransaction:
            .rejected(Rejection(.signatureInvalid, detail))
        }
    }
}

/// The checks of a signed transaction, in this order; the first failure ends them. Reports show the raw values.
enum SignedTransactionStep: String, CaseIterable {
    case form, header, certificates, signature, payload, validity, clock, environment, purchase

    /// The step that a text with this error does not pass.
    init(failedBy error: SignedTransactionError) {
        self =
            switch error {
            case .tooLarge, .notThreeParts, .notBase64URL: .form
            case .headerUnreadable, .wrongAlgorithm, .headerRefused, .wrongCertificateCount: .header
            case .chain, .wrongKey, .objection: .certificates
            case .wrongSignature, .unchecked: .signature
            case .payloadUnreadable, .notATransaction, .noSigningDate: .payload
            case .outsideValidity: .validity
            case .signedAhead: .clock
            case .localTesting: .environment
            }
    }
}
