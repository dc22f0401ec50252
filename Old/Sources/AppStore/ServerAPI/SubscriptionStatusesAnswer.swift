public import Purchases

/// The answer of Get All Subscription Statuses: for people who look into a case. Nothing in it is verified.
///
/// [StatusResponse](https://developer.apple.com/documentation/appstoreserverapi/statusresponse)
public struct SubscriptionStatusesAnswer: Decodable, Sendable {
    /// Most subscriptions, over all groups, that an answer is believed to hold.
    public static let maxSubscriptions = 1000

    /// What became of a subscription. The raw values are Apple's.
    public enum Status: Int, Sendable, CaseIterable {
        case active = 1
        case expired
        case billingRetry
        case gracePeriod
        case revoked
    }

    /// One subscription of the customer.
    public struct Subscription: Sendable {
        public let originalTransactionID: TransactionID?
        /// Nil for one that this version does not know.
        public let status: Status?
        /// A compact JWS, to be verified like any other.
        public let signedTransactionInfo: String?
        /// A compact JWS of what comes next.
        public let signedRenewalInfo: String?
    }

    /// Subscriptions that exclude each other.
    public struct Group: Sendable {
        public let subscriptionGroupIdentifier: String?
        public let lastTransactions: [Subscription]
    }

    public let groups: [Group]
    public let bundleID: BundleID?
    /// As it came.
    public let environment: String?

    /// Reads a body of at most 1 MiB; nil for what is no such answer.
    public init?(json: [UInt8]) {
        guard let answer = ServerAPIReading.decoded(Self.self, json),
            answer.groups.reduce(0, { $0 + $1.lastTransactions.count }) <= Self.maxSubscriptions
        else { return nil }
        self = answer
    }

    private enum Member: String, CodingKey {
        case data, environment
        case bundleID = "bundleId"
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        groups = try members.decode([Group].self, forKey: .data)
        bundleID = try members.text(.bundleID).map { BundleID($0) }
        environment = try members.text(.environment)
    }
}

extension SubscriptionStatusesAnswer.Group: Decodable {
    private enum Member: String, CodingKey {
        case subscriptionGroupIdentifier, lastTransactions
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        subscriptionGroupIdentifier = try members.text(.subscriptionGroupIdentifier)
        lastTransactions =
            try members.decodeIfPresent(
                [SubscriptionStatusesAnswer.Subscription].self, forKey: .lastTransactions) ?? []
    }
}

extension SubscriptionStatusesAnswer.Subscription: Decodable {
    private enum Member: String, CodingKey {
        case status, signedTransactionInfo, signedRenewalInfo
        case originalTransactionID = "originalTransactionId"
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        originalTransactionID = try members.text(.originalTransactionID).map { TransactionID($0) }
        status = try members.text(.status).flatMap(LenientNumber.integer)
            .flatMap(SubscriptionStatusesAnswer.Status.init)
        signedTransactionInfo = try members.text(.signedTransactionInfo)
        signedRenewalInfo = try members.text(.signedRenewalInfo)
    }
}

extension KeyedDecodingContainer {
    /// A member in whatever scalar form; nil for one that is absent or has parts.
    fileprivate func text(_ member: Key) throws -> String? {
        try decodeIfPresent(LenientText.self, forKey: member)?.text
    }
}
