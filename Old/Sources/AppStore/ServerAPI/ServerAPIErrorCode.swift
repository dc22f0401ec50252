import Purchases

/// What an error code of the App Store Server API means for whoever looks a transaction up.
///
/// [Error codes](https://developer.apple.com/documentation/appstoreserverapi/error-codes)
enum ServerAPIErrorCode {
    /// What to do.
    enum Disposition: Hashable {
        /// Not here: ask the other environment, or later, because a fresh transaction is found late.
        case notFound
        /// The account that bought is not found; later it may be.
        case accountNotFound
        /// Apple will never have it.
        case rejected(FailureReason)
        /// Apple cannot tell now.
        case temporarilyUnable
        /// No answer about the transaction: of Apple's servers in general, or of what stands between them and us.
        case noAnswer
        /// We ask too often.
        case rateLimited
        /// The pages changed while they were read: begin again.
        case restartPaging
        /// The token ran out, the key is not the app's, or production does not know the app, which was never released.
        case tokenRefused
        /// Apple does not know the app that the key is for.
        case credentialsRefused
        /// Our request is wrong.
        case requestRefused
        /// Nothing this version knows.
        case unknown
    }

    /// Every code on Apple's page. Codes of endpoints that are not asked here count as a fault of our request: whatever
    /// made Apple answer so, the player did not, and the purchase may stand.
    static let table: [(code: Int, name: String, disposition: Disposition)] = [
        (4_000_000, "GeneralBadRequest", .requestRefused),
        (4_000_002, "InvalidAppIdentifier", .credentialsRefused),
        (4_000_005, "InvalidRequestRevision", .restartPaging),
        (4_000_006, "InvalidTransactionId", .rejected(.transactionNotFound)),
        (4_000_008, "InvalidOriginalTransactionId", .rejected(.transactionNotFound)),
        (4_000_009, "InvalidExtendByDays", .requestRefused),
        (4_000_010, "InvalidExtendReasonCode", .requestRefused),
        (4_000_011, "InvalidRequestIdentifier", .requestRefused),
        (4_000_012, "StartDateTooFarInPast", .requestRefused),
        (4_000_013, "StartDateAfterEndDate", .requestRefused),
        (4_000_014, "InvalidPaginationToken", .restartPaging),
        (4_000_015, "InvalidStartDate", .requestRefused),
        (4_000_016, "InvalidEndDate", .requestRefused),
        (4_000_017, "PaginationTokenExpired", .restartPaging),
        (4_000_018, "InvalidNotificationType", .requestRefused),
        (4_000_019, "MultipleFiltersSupplied", .requestRefused),
        (4_000_020, "InvalidTestNotificationToken", .requestRefused),
        (4_000_021, "InvalidSort", .requestRefused),
        (4_000_022, "InvalidProductType", .requestRefused),
        (4_000_023, "InvalidProductId", .requestRefused),
        (4_000_024, "InvalidSubscriptionGroupIdentifier", .requestRefused),
        (4_000_025, "InvalidExcludeRevoked", .requestRefused),
        (4_000_026, "InvalidInAppOwnershipType", .requestRefused),
        (4_000_027, "InvalidEmptyStorefrontCountryCodeList", .requestRefused),
        (4_000_028, "InvalidStorefrontCountryCode", .requestRefused),
        (4_000_030, "InvalidRevoked", .requestRefused),
        (4_000_031, "InvalidStatus", .requestRefused),
        (4_000_032, "InvalidAccountTenure", .requestRefused),
        (4_000_033, "InvalidAppAccountToken", .requestRefused),
        (4_000_034, "InvalidConsumptionStatus", .requestRefused),
        (4_000_035, "InvalidCustomerConsented", .requestRefused),
        (4_000_036, "InvalidDeliveryStatus", .requestRefused),
        (4_000_037, "InvalidLifetimeDollarsPurchased", .requestRefused),
        (4_000_038, "InvalidLifetimeDollarsRefunded", .requestRefused),
        (4_000_039, "InvalidPlatform", .requestRefused),
        (4_000_040, "InvalidPlayTime", .requestRefused),
        (4_000_041, "InvalidSampleContentProvided", .requestRefused),
        (4_000_042, "InvalidUserStatus", .requestRefused),
        (4_000_043, "InvalidTransactionNotConsumable", .requestRefused),
        (4_000_047, "InvalidTransactionTypeNotSupported", .requestRefused),
        (4_000_048, "AppTransactionIdNotSupported", .rejected(.transactionNotFound)),
        (4_000_183, "InvalidAppAccountTokenUUID", .requestRefused),
        (4_000_185, "FamilyTransactionNotSupported", .requestRefused),
        (4_000_187, "TransactionIdIsNotOriginalTransactionId", .requestRefused),
        (4_030_004, "SubscriptionExtensionIneligible", .requestRefused),
        (4_030_005, "SubscriptionMaxExtension", .requestRefused),
        (4_030_007, "FamilySharedSubscriptionExtensionIneligible", .requestRefused),
        (4_040_001, "AccountNotFound", .accountNotFound),
        (4_040_002, "AccountNotFoundRetryable", .temporarilyUnable),
        (4_040_003, "AppNotFound", .credentialsRefused),
        (4_040_004, "AppNotFoundRetryable", .temporarilyUnable),
        (4_040_005, "OriginalTransactionIdNotFound", .notFound),
        (4_040_006, "OriginalTransactionIdNotFoundRetryable", .temporarilyUnable),
        (4_040_007, "ServerNotificationUrlNotFound", .requestRefused),
        (4_040_008, "TestNotificationNotFound", .requestRefused),
        (4_040_009, "StatusRequestNotFound", .requestRefused),
        (4_040_010, "TransactionIdNotFound", .notFound),
        (4_040_019, "AppTransactionDoesNotExist", .requestRefused),
        (4_290_000, "RateLimitExceeded", .rateLimited),
        (5_000_000, "GeneralInternal", .temporarilyUnable),
        (5_000_001, "GeneralInternalRetryable", .temporarilyUnable),
    ]

    private static let byCode = Dictionary(
        table.map { ($0.code, $0.disposition) }, uniquingKeysWith: { first, _ in first })

    /// What follows from an answer other than HTTP 200.
    ///
    /// The first three digits of a code are its HTTP status. Where they are not, somebody else than Apple put the
    /// answer together, and its code counts no more than one that is absent or not in the table: the status decides.
    static func disposition(of code: Int?, httpStatus: Int) -> Disposition {
        if let code, code / 10_000 == httpStatus, let known = byCode[code] { return known }
        return switch httpStatus {
        case 401: .tokenRefused
        case 429: .rateLimited
        // Apple gives a code with every error but 401; a page without one is of something in between, such as a proxy.
        case 400...499: code == nil ? .noAnswer : .unknown
        default: .noAnswer
        }
    }
}
