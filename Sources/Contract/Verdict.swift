/// An endpoint of Apple's that submissions wait for. It has its own gate and its own due rows in `retries`.
public struct Endpoint: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    public enum Service: String, Hashable, Sendable, Codable, CaseIterable {
        case verifyReceipt = "verify_receipt"
        case serverAPI = "server_api"
    }

    public let service: Service
    public let environment: Environment
    /// The app's bundle id where each app has its own key; empty where all apps share one limit, and for rows that ask
    /// nothing. It does not change with the app's secrets.
    public let key: String

    public init(_ service: Service, _ environment: Environment, key: String = "") {
        self.service = service
        self.environment = environment
        self.key = key
    }

    /// An endpoint as a column of the ledger has it; nil for the word of a later version.
    public init?(text: String) {
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let service = Service(rawValue: String(parts[0])),
            let environment = Environment(rawValue: String(parts[1]))
        else { return nil }
        self.init(service, environment, key: String(parts[2]))
    }

    /// The form of a column: `server_api/production/com.example.game`. It never changes.
    public var text: String { "\(service.rawValue)/\(environment.rawValue)/\(key)" }

    public static func < (left: Endpoint, right: Endpoint) -> Bool { left.text < right.text }

    /// For people: `verifyReceipt (production)`.
    public var description: String {
        let name =
            switch service {
            case .verifyReceipt: "verifyReceipt"
            case .serverAPI: "App Store Server API"
            }
        return "\(name) (\(environment.rawValue))" + (key.isEmpty ? "" : " of \(key)")
    }
}

/// The meaning of a call's result for its endpoint, whatever it means for the submission.
public enum CallOutcome: Hashable, Sendable {
    /// It replied. A refused key is a reply, too: one app's bad credentials must never stop another app.
    case replied
    /// It could not answer.
    case failed
    /// It could not answer, and fewer calls at once may help.
    case overloaded
    /// It asks not to be called for a while; nil where it does not say for how long.
    case limited(wait: Duration?)
    /// Nothing was learnt: no call was made, or it was given up on our side.
    case unknown
}

/// Why there is no answer about the evidence yet. The raw values label metrics and logs and stand in rows of `retries`.
public enum RetryCause: String, Hashable, Sendable, CaseIterable {
    /// No connection, a timeout, a reset, a TLS fault: nothing was heard from Apple.
    case unreachable
    /// HTTP 5xx, or what is no reply of Apple's: HTML, truncated, oversized, without status, about another receipt.
    case noAnswer = "no_answer"
    /// HTTP 429, or no call was made: the configured rate is used up for long.
    case rateLimited = "rate_limited"
    /// Apple says it cannot tell now: 21005, 21009, 21100 to 21199, 5000000 and the errors that Apple calls retryable.
    case temporarilyUnable = "temporarily_unable"
    /// 21002 for a receipt that parses, or an id that Apple calls malformed: perhaps a fault of Apple's.
    case perhapsMalformed = "perhaps_malformed"
    /// 21003, or another final refusal, for a receipt that is not proven to be forged.
    case perhapsNotAuthentic = "perhaps_not_authentic"
    /// One reply has the purchase as refunded and as standing.
    case perhapsRevoked = "perhaps_revoked"
    /// The claimed transaction is not in Apple's reply yet.
    case notFoundYet = "not_found_yet"
    /// Apple attested the transaction, and does not find it, or refuses the receipt that has it.
    case noLongerFound = "no_longer_found"
    /// Everything in the reply was granted before, and the claim seems to be about something new.
    case nothingNew = "nothing_new"
    /// Apple signed at a moment that, by our clock, has not come yet.
    case signedAhead = "signed_ahead"
    /// No call was made: the endpoint replies to nobody, or too slowly.
    case endpointUnavailable = "endpoint_unavailable"
}

extension RetryCause {
    /// Whether it is the cause of a doubt, which ends once Apple has repeated it for long enough.
    public var isDoubt: Bool {
        switch self {
        case .perhapsMalformed, .perhapsNotAuthentic, .perhapsRevoked, .notFoundYet, .nothingNew: true
        case .unreachable, .noAnswer, .rateLimited, .temporarilyUnable, .noLongerFound, .signedAhead,
            .endpointUnavailable:
            false
        }
    }
}

/// Why a submission waits for us, not for Apple. Never the player's fault, so it never fails.
public enum HoldCause: String, Hashable, Sendable, Codable, CaseIterable {
    /// 21004 for every configured shared secret.
    case sharedSecretRefused = "shared_secret_refused"
    /// The App Store Server API is needed and the app has no key for it.
    case credentialsMissing = "credentials_missing"
    /// The App Store Server API refuses the app's key (401), or does not know the app (4000002, 4040003).
    case credentialsRefused = "credentials_refused"
    /// 21000, 4000000 and the like: Apple says our request is wrong.
    case requestRefused = "request_refused"
    /// A status or answer this version does not know.
    case unknownAnswer = "unknown_answer"
    /// Its app is missing from the apps file, and the ledger or this worker knows it as ours.
    case appNotConfigured = "app_not_configured"
    /// Apple attests a product that the apps file does not list.
    case productNotConfigured = "product_not_configured"
    /// Apple's word contradicts the apps file about a product: its type, or how many are sold at once.
    case productContradicted = "product_contradicted"
    /// Apple attests an account token, and the submission claims none.
    case accountTokenMissing = "account_token_missing"
    /// Apple's reply lacks what a grant needs, such as a bundle id or a transaction id.
    case incompleteAnswer = "incomplete_answer"
    /// Bought by the Advanced Commerce API: the bought SKUs are in no catalogue of ours.
    case advancedCommerce = "advanced_commerce"
    /// Apple gave a part of the money back, and the worth of the rest is not known.
    case partialRefund = "partial_refund"
    /// Apple's signature could not be checked: memory is out, the host's OpenSSL refuses its algorithm, or the
    /// configuration names other roots than Apple's.
    case signatureUnchecked = "signature_unchecked"
    /// The ledger refuses the decision for its data.
    case decisionRefused = "decision_refused"
    /// Its check has ended worker after worker: a person must let it be tried again.
    case endsWorkers = "ends_workers"
    /// Nothing was decided about it for as long as a doubt may last, while others were answered.
    case noDecision = "no_decision"
    /// A row of the ledger that it depends on was written by a later version, and this one cannot read it.
    case laterVersion = "later_version"
}

extension HoldCause {
    /// The step that a person takes to mend it.
    public var remedy: String {
        switch self {
        case .sharedSecretRefused:
            "the app needs a shared secret that Apple takes: correct sharedSecretFiles, and send SIGHUP"
        case .credentialsMissing:
            "the app has no key for the App Store Server API: set serverAPI in the apps file, and send SIGHUP"
        case .credentialsRefused:
            "Apple refuses the app's key: correct serverAPI, or this host's clock, until grantor check accepts it, and send SIGHUP"
        case .requestRefused, .unknownAnswer, .incompleteAnswer:
            "this version cannot use Apple's reply: grantor submissions show says which; report it"
        case .advancedCommerce:
            "no catalogue has the SKUs of the Advanced Commerce API: give the player what was bought by other means"
        case .partialRefund:
            "Apple refunded a part of the purchase: decide what the player gets, and give it by other means"
        case .appNotConfigured: "the app is missing from the apps file: put it back, and send SIGHUP"
        case .productNotConfigured:
            "list the product under products in the apps file and send SIGHUP; where nobody shall get such products, say "
                + "unlistedProducts: fail, which refuses all that wait"
        case .productContradicted:
            "Apple's word contradicts the apps file: compare the product's type and items with App Store Connect, "
                + "correct the file if it is wrong, and send SIGHUP"
        case .accountTokenMissing:
            "let the backend submit it again with appAccountToken, for the same orderId, under a new id; or say "
                + "accountToken: ignore, which grants it to whoever submitted it"
        case .signatureUnchecked:
            "this worker cannot check Apple's signatures: unset GRANTOR_APPLE_ROOT_CERTIFICATES in production, and see "
                + "whether OpenSSL's policy forbids SHA-1 signatures, or memory is short"
        case .decisionRefused: "the ledger refuses the decision: grantor submissions show says why; report it"
        case .laterVersion:
            "a later version wrote rows that it depends on: run that version again; it goes on by itself"
        case .endsWorkers: "its check ends workers: report it, and use grantor submissions retry with a mended version"
        case .noDecision:
            "nothing is decided about it, while others are answered: grantor submissions show says what came each time; "
                + "ask Apple, or correct this host's clock if it was signed ahead; if Apple refuses a receipt that it "
                + "signed, let the player send a fresh one"
        }
    }
}

/// The conclusion of an attempt about a submission.
public enum Verdict: Hashable, Sendable {
    /// Authentic, and these purchases passed every check. Never empty.
    case verified([GrantablePurchase], by: VerifiedBy)
    case rejected(Rejection)
    /// Tried again, without limit; not before the given moment, where Apple named one. Grants of the claim's purchases
    /// answer it, as they answer a hold.
    case retry(RetryCause, notBefore: Timestamp?, purchases: [NamedPurchase] = [])
    /// A reply of Apple's that may not be its last word: tried again, and final once Apple has repeated it for long
    /// enough.
    case doubt(RetryCause, becomes: FinalVerdict)
    /// Tried again, too, but our configuration or a person must change something first. If all of the claim's purchases
    /// were granted before, these grants answer it. There are none where one of them has no names.
    case hold(HoldCause, detail: String, purchases: [NamedPurchase] = [])
}

/// A conclusion without a further question.
public enum FinalVerdict: Hashable, Sendable {
    /// As ``Verdict/verified(_:by:)``.
    case verified([GrantablePurchase], by: VerifiedBy)
    case rejected(Rejection)

    public var verdict: Verdict {
        switch self {
        case .verified(let purchases, let verifiedBy): .verified(purchases, by: verifiedBy)
        case .rejected(let rejection): .rejected(rejection)
        }
    }
}

/// An attempt that decided nothing.
public struct Attempt: Hashable, Sendable {
    public let at: Timestamp
    /// One word, as in metrics.
    public let cause: String
    /// One sentence; holds no evidence, token or secret.
    public let detail: String

    public init(at: Timestamp, cause: String, detail: String) {
        self.at = at
        self.cause = cause
        self.detail = detail
    }
}

/// The attempts of one submission that decided nothing: the first ones and the latest, in order.
public struct AttemptHistory: Hashable, Sendable {
    /// So many of the first attempts are kept, whatever comes after them.
    public static let maxFirst = 10
    /// So many of the latest attempts are kept.
    public static let maxLatest = 40

    public private(set) var attempts: [Attempt]

    public init(_ attempts: [Attempt] = []) { self.attempts = attempts }

    /// Adds an attempt; one between the first and the latest goes where there are too many.
    public mutating func add(_ attempt: Attempt) {
        attempts.append(attempt)
        if attempts.count > Self.maxFirst + Self.maxLatest { attempts.remove(at: Self.maxFirst) }
    }
}
