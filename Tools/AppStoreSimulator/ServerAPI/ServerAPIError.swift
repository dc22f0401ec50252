internal import HTTPServer
internal import SimulatorServer

/// Errors of the App Store Server API that the simulator gives by itself, by Apple's `errorCode`.
enum ServerAPIError: Int, Error {
    case invalidRequestRevision = 4_000_005
    case invalidTransactionID = 4_000_006
    case startDateAfterEndDate = 4_000_013
    case invalidStartDate = 4_000_015
    case invalidEndDate = 4_000_016
    case invalidSort = 4_000_021
    case invalidProductType = 4_000_022
    case invalidOwnership = 4_000_026
    case invalidRevoked = 4_000_030
    case invalidStatus = 4_000_031
    case appNotFound = 4_040_003
    case transactionIDNotFound = 4_040_010
    case rateLimitExceeded = 4_290_000

    var reply: Reply { Self.reply(code: rawValue) }

    /// The answer of any error: the HTTP status is the code's first three digits (Apple, "Error codes").
    static func reply(code: Int) -> Reply {
        let status = code / 10_000
        var body = JSONText()
        body.add("errorCode", Int64(code))
        body.add("errorMessage", messages[code] ?? "An unknown error occurred.")
        var reply = Reply.json(Array(body.text.utf8))
        reply.status = (400...599).contains(status) ? status : 500
        return reply
    }

    /// The answer of ``rateLimitExceeded``.
    ///
    /// - Parameter retryAfter: Milliseconds since 1970, as Apple has it.
    static func rateLimited(retryAfter: String) -> Reply {
        var reply = rateLimitExceeded.reply
        reply.fields.append(HeaderField("Retry-After", retryAfter))
        return reply
    }

    private static let messages: [Int: String] = [
        4_000_000: "Bad request.",
        4_000_002: "Invalid request app identifier.",
        4_000_005: "Invalid request revision.",
        4_000_006: "Invalid transaction id.",
        4_000_008: "Invalid original transaction id.",
        4_000_013: "Invalid request. Start date is after end date.",
        4_000_015: "Invalid request. The start date is invalid.",
        4_000_016: "Invalid request. The end date is invalid.",
        4_000_021: "Invalid request. The sort parameter is invalid.",
        4_000_022: "Invalid request. The product type parameter is invalid.",
        4_000_026: "Invalid request. The in-app ownership type parameter is invalid.",
        4_000_030: "Invalid request. The revoked parameter is invalid.",
        4_000_031: "Invalid request. The status parameter is invalid.",
        4_040_001: "Account not found.",
        4_040_002: "Account not found. Please try again.",
        4_040_003: "App not found.",
        4_040_004: "App not found. Please try again.",
        4_040_005: "Original transaction id not found.",
        4_040_006: "Original transaction id not found. Please try again.",
        4_040_010: "Transaction id not found.",
        4_290_000: "Rate limit exceeded.",
        5_000_000: "An unknown error occurred.",
        5_000_001: "An unknown error occurred. Please try again.",
    ]
}
