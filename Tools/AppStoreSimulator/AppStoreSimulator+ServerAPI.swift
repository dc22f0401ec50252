public import Contract
internal import Cryptography
internal import Synchronization

extension AppStoreSimulator {
    /// A signed transaction, as an app would send it: a compact JWS. The App Store Server API does not come to know it.
    ///
    /// - Parameter signedAt: Nil for now.
    /// - Throws: ``SignedDataError/signingFailed``.
    public func issueSigned(
        _ transaction: TransactionSpecification, signedAt: Timestamp? = nil
    ) throws(SignedDataError) -> String {
        try transactionFactory.signed(transaction, signedAt: signedAt ?? now())
    }

    /// Lets the App Store Server API know a transaction, instead of an earlier one of the same id and environment.
    ///
    /// - Throws: ``SimulatorError/tooManyTransactions``: there may be 500,000, of one customer 10,000.
    public func register(_ registration: Registration) throws(SimulatorError) {
        do {
            try transactions.table.withLock { table throws(TransactionTable.Full) in
                try table.register(registration)
            }
        } catch {
            throw .tooManyTransactions
        }
    }

    /// Lets the App Store Server API know a purchase, with prices and names as ``TransactionSpecification`` has them.
    ///
    /// - Throws: ``SimulatorError/tooManyTransactions``.
    public func register(
        _ purchase: SimulatedPurchase, bundleID: BundleID, environment: Environment,
        appearance: Registration.Appearance = .atOnce
    ) throws(SimulatorError) {
        try register(
            Registration(
                TransactionSpecification(purchase, bundleID: bundleID, environment: environment),
                appearance: appearance))
    }

    /// Marks a registered transaction as refunded, or as revoked if it was shared in a family.
    ///
    /// - Parameter reason: "1" for an issue within the app, "0" for another.
    /// - Returns: False if the transaction is not registered.
    public func revoke(
        _ transaction: TransactionID, in environment: Environment, at moment: Timestamp, reason: String = "0"
    ) -> Bool {
        transactions.table.withLock { $0.revoke(transaction, in: environment, at: moment, reason: reason) }
    }

    public func clearTransactions() {
        transactions.table.withLock { $0.clear() }
    }

    /// Accepts tokens of a key from now on.
    /// - Throws: ``SimulatorError/tooManyKeys`` beyond a thousand.
    public func accept(_ key: ServerAPIKey) throws(SimulatorError) {
        try transactions.accept(key.privateKey.publicKey, issuerID: key.issuerID, keyID: key.keyID)
    }

    /// Accepts tokens of a key from now on, by its public half.
    /// - Throws: ``SimulatorError/keyUnusable``; ``SimulatorError/tooManyKeys``.
    public func acceptKey(issuerID: String, keyID: String, publicKeyPEM: String) throws(SimulatorError) {
        try transactions.accept(publicKeyPEM: publicKeyPEM, issuerID: issuerID, keyID: keyID)
    }
}

extension ServerAPIService {
    func accept(publicKeyPEM: String, issuerID: String, keyID: String) throws(SimulatorError) {
        guard let key = PublicKey(pem: publicKeyPEM), key.kind == .p256 else { throw .keyUnusable }
        try accept(key, issuerID: issuerID, keyID: keyID)
    }

    func accept(_ key: PublicKey, issuerID: String, keyID: String) throws(SimulatorError) {
        do {
            try keys.withLock { keys throws(KeyRing.Full) in
                try keys.accept(key, issuerID: issuerID, keyID: keyID)
            }
        } catch {
            throw .tooManyKeys
        }
    }
}
