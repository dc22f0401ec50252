public import Contract

/// The codes of Apple's with a metric of their own.
public enum AppleCodeLabel {
    private static let other = "other"
    private static let statuses = AppleCodes.statuses.map { entry in
        (codes: entry.codes, label: entry.codes.count == 1 ? String(entry.codes.lowerBound) : "211xx")
    }
    private static let errors = Dictionary(
        AppleCodes.errors.map { ($0.code, String($0.code)) }, uniquingKeysWith: { first, _ in first })

    /// Every label of a service.
    public static func all(of service: Endpoint.Service) -> [String] {
        switch service {
        case .verifyReceipt: statuses.map(\.label) + [other]
        case .serverAPI: errors.values.sorted() + [other]
        }
    }

    /// The label of a status of verifyReceipt, or of an error code of the App Store Server API.
    public static func label(_ code: Int, of service: Endpoint.Service) -> String {
        switch service {
        case .verifyReceipt: statuses.first { $0.codes.contains(code) }?.label ?? other
        case .serverAPI: errors[code] ?? other
        }
    }
}

/// Everything that Apple says by number or by name, with what follows from it. The only place that knows a code.
///
/// verifyReceipt: [status](https://developer.apple.com/documentation/appstorereceipts/status). App Store Server API:
/// [Error codes](https://developer.apple.com/documentation/appstoreserverapi/error-codes).
enum AppleCodes {
    /// The consequence of a status of verifyReceipt.
    enum StatusMeaning: Hashable {
        /// The receipt is Apple's, and the reply has its content.
        case authentic
        /// Our request is wrong.
        case requestRefused
        /// The receipt is malformed, or Apple has a temporary fault: the reply is the same for both.
        case perhapsMalformed
        case notAuthentic
        /// The shared secret is not the app's.
        case sharedSecretRefused
        /// Apple cannot tell at the moment.
        case temporarilyUnable
        /// Authentic, but the subscription is over; for receipts in the style of iOS 6 only.
        case subscriptionExpired
        /// The receipt belongs to the other environment.
        case belongs(to: Environment)
        /// The account was not found or was deleted.
        case accountGone
        /// Apple's flag `is_retryable` decides; without it Apple cannot tell at the moment.
        case byRetryableFlag
        /// Not documented, or no longer sent.
        case unknown
    }

    /// Every known status of verifyReceipt, in Apple's order.
    static let statuses: [(codes: ClosedRange<Int>, meaning: StatusMeaning)] = [
        (0...0, .authentic),
        (21000...21000, .requestRefused),
        (21001...21001, .unknown),
        (21002...21002, .perhapsMalformed),
        (21003...21003, .notAuthentic),
        (21004...21004, .sharedSecretRefused),
        (21005...21005, .temporarilyUnable),
        (21006...21006, .subscriptionExpired),
        (21007...21007, .belongs(to: .sandbox)),
        (21008...21008, .belongs(to: .production)),
        (21009...21009, .temporarilyUnable),
        (21010...21010, .accountGone),
        (21100...21199, .byRetryableFlag),
    ]

    /// The meaning of a status of verifyReceipt; `unknown` for one that is not in the table.
    static func meaning(ofStatus status: Int) -> StatusMeaning {
        statuses.first { $0.codes.contains(status) }?.meaning ?? .unknown
    }

    /// The consequence of an error of the App Store Server API for a question.
    enum ErrorMeaning: Hashable {
        /// Not here: ask the other environment, or later, because a fresh transaction is found late.
        case notFound
        /// The account that bought is not found; later it may be.
        case accountNotFound
        /// Apple takes the id for none of its own.
        case idRefused
        /// Apple cannot tell now, or the reply says nothing about the transaction. It may come from Apple's servers in
        /// general, or from something between them and us. It says the cause, and what that means for the endpoint.
        case retry(RetryCause, CallOutcome)
        case rateLimited
        /// The pages changed while they were read: begin again.
        case restartPaging
        /// The token ran out, the key is not the app's, or production does not know the app, which was never released.
        case tokenRefused
        /// Apple does not know the app that the key is for.
        case credentialsRefused
        /// Our request is wrong.
        case requestRefused
        /// A code that nobody knows. It says what its HTTP status means for the endpoint.
        case unknown(CallOutcome)
    }

    /// Every error code that Apple documents and that does not simply find fault with our request.
    static let errors: [(code: Int, name: String, meaning: ErrorMeaning)] = [
        (4_000_002, "InvalidAppIdentifier", .credentialsRefused),
        (4_000_005, "InvalidRequestRevision", .restartPaging),
        (4_000_006, "InvalidTransactionId", .idRefused),
        (4_000_008, "InvalidOriginalTransactionId", .idRefused),
        (4_000_014, "InvalidPaginationToken", .restartPaging),
        (4_000_017, "PaginationTokenExpired", .restartPaging),
        (4_000_048, "AppTransactionIdNotSupported", .idRefused),
        (4_040_001, "AccountNotFound", .accountNotFound),
        (4_040_002, "AccountNotFoundRetryable", .retry(.temporarilyUnable, .replied)),
        (4_040_003, "AppNotFound", .credentialsRefused),
        (4_040_004, "AppNotFoundRetryable", .retry(.temporarilyUnable, .replied)),
        (4_040_005, "OriginalTransactionIdNotFound", .notFound),
        (4_040_006, "OriginalTransactionIdNotFoundRetryable", .retry(.temporarilyUnable, .replied)),
        (4_040_010, "TransactionIdNotFound", .notFound),
        (4_290_000, "RateLimitExceeded", .rateLimited),
        (5_000_000, "GeneralInternal", .retry(.temporarilyUnable, .failed)),
        (5_000_001, "GeneralInternalRetryable", .retry(.temporarilyUnable, .failed)),
    ]

    /// The other error codes that Apple documents. Codes of calls that are not made here count as a fault of our
    /// request. The player did not cause them, and the purchase may be valid.
    ///
    /// GeneralBadRequest, and the codes of extensions, notifications, filters, consumption information and account
    /// tokens.
    static let requestErrors: [ClosedRange<Int>] = [
        4_000_000...4_000_000, 4_000_009...4_000_013, 4_000_015...4_000_016, 4_000_018...4_000_028,
        4_000_030...4_000_043, 4_000_047...4_000_047, 4_000_183...4_000_183, 4_000_185...4_000_185,
        4_000_187...4_000_187, 4_030_004...4_030_005, 4_030_007...4_030_007, 4_040_007...4_040_009,
        4_040_019...4_040_019,
    ]

    /// The consequence of a reply of the App Store Server API other than HTTP 200.
    ///
    /// The first three digits of a code are its HTTP status. If they differ, the reply is not Apple's, and the status
    /// decides. The status also decides if the code is absent or not in the tables.
    static func meaning(ofError code: Int?, httpStatus: Int) -> ErrorMeaning {
        if let code, code / 10_000 == httpStatus {
            if let known = errors.first(where: { $0.code == code }) { return known.meaning }
            if requestErrors.contains(where: { $0.contains(code) }) { return .requestRefused }
        }
        // Apple gives a code with every error but 401; a page without one is of something in between, such as a proxy.
        return switch httpStatus {
        case 401: .tokenRefused
        case 429: .rateLimited
        case 408 where code != nil: .unknown(.overloaded)
        case 400...499 where code != nil: .unknown(.replied)
        default: .retry(.noAnswer, outcome(ofPage: httpStatus))
        }
    }

    /// The meaning for the endpoint of a page that is not Apple's. It means that nothing of Apple's is reached, unless it
    /// concerns one request alone.
    static func outcome(ofPage httpStatus: Int) -> CallOutcome {
        switch httpStatus {
        case 400, 413...414, 431: .replied
        case 408, 503...504: .overloaded
        default: .failed
        }
    }

    /// Names of environments, in signed transactions and in replies.
    static let environments: [String: Environment] = ["Production": .production, "Sandbox": .sandbox]

    /// Names of environments that sign on a developer's machine.
    static let localEnvironments: Set<String> = ["Xcode", "LocalTesting"]

    /// Kinds of owners, in signed transactions and in records of verifyReceipt.
    static let ownerships: [String: Ownership] = ["PURCHASED": .purchased, "FAMILY_SHARED": .familyShared]

    /// Types of products, in signed transactions.
    static let productTypes: [String: ProductType] = [
        "Consumable": .consumable, "Non-Consumable": .nonConsumable, "Non-Renewing Subscription": .nonRenewing,
        "Auto-Renewable Subscription": .autoRenewable,
    ]

    /// How much of a transaction Apple took back.
    enum Revocation: Hashable {
        case whole, part
    }

    /// Kinds of refunds and revocations, in signed transactions
    /// ([revocationType](https://developer.apple.com/documentation/appstoreserverapi/revocationtype)).
    static let revocations: [String: Revocation] = [
        "REFUND_FULL": .whole, "FAMILY_REVOKE": .whole, "REFUND_PRORATED": .part,
    ]

    /// A refund of everything, in Apple's thousandths of a percent
    /// ([revocationPercentage](https://developer.apple.com/documentation/appstoreserverapi/revocationpercentage)).
    static let wholeRefund = 100_000

    /// Discounts of offers, in signed transactions.
    static let discountTypes: [String: Offer.DiscountType] = [
        "FREE_TRIAL": .freeTrial, "PAY_AS_YOU_GO": .payAsYouGo, "PAY_UP_FRONT": .payUpFront, "ONE_TIME": .oneTime,
    ]

    /// Kinds of offers, in signed transactions
    /// ([offerType](https://developer.apple.com/documentation/appstoreserverapi/offertype)).
    static let offerTypes: [Int: Offer.Kind] = [1: .introductory, 2: .promotional, 3: .offerCode, 4: .winBack]
}
