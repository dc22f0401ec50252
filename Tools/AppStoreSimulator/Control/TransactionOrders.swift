internal import Contract

/// The body of `POST /simulator/transactions`: transactions that the App Store Server API is to know from now on.
public struct RegistrationOrder: Hashable, Sendable, Codable {
    /// Taken in order, up to the first for which there is no room.
    public var transactions: [Registration]

    public init(_ transactions: [Registration]) {
        self.transactions = transactions
    }
}

/// The body of `POST /simulator/signed-transactions`: a transaction to be signed.
public struct SigningOrder: Hashable, Sendable, Codable {
    public var transaction: TransactionSpecification
    /// `signedDate`, in milliseconds since 1970; nil for now.
    public var signedDate: Int64?
    /// Changes of the protected header; nil for none.
    public var header: [MemberChange]?

    /// A transaction to be signed.
    public init(
        _ transaction: TransactionSpecification, signedDate: Int64? = nil, header: [MemberChange]? = nil
    ) {
        self.transaction = transaction
        self.signedDate = signedDate
        self.header = header
    }
}

/// The body of `POST /simulator/revocations`: a refund of a transaction that is known.
public struct RevocationOrder: Hashable, Sendable, Codable {
    public var transactionId: String
    public var environment: ScriptOrder.Endpoint
    /// `revocationDate`, in milliseconds since 1970; nil for now.
    public var revocationDate: Int64?
    /// "1" for an issue within the app, "0" for another; nil for "0".
    public var reason: String?

    public init(
        transactionId: String, environment: ScriptOrder.Endpoint, revocationDate: Int64? = nil, reason: String? = nil
    ) {
        self.transactionId = transactionId
        self.environment = environment
        self.revocationDate = revocationDate
        self.reason = reason
    }
}

/// The body of `POST /simulator/keys`: a key whose tokens are accepted from now on.
public struct KeyOrder: Hashable, Sendable, Codable {
    public var issuerId: String
    public var keyId: String
    /// P-256, PEM.
    public var publicKey: String

    public init(_ key: ServerAPIKey) {
        issuerId = key.issuerID
        keyId = key.keyID
        publicKey = key.publicKeyPEM
    }
}

extension ScriptOrder.Endpoint {
    var environment: Environment {
        switch self {
        case .production: .production
        case .sandbox: .sandbox
        }
    }
}
