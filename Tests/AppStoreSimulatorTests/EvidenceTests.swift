import AppStore
import AppStoreSimulator
import Contract
import Testing

/// The simulator's evidence passes the checks that Apple's own has to pass.
struct EvidenceTests {
    private let authority: SimulatorAuthority
    private let roots: TrustedRoots

    init() throws {
        authority = try SimulatorAuthority(now: now)
        roots = try TrustedRoots(pem: authority.rootsPEM)
    }

    @Test("A signed transaction is verified", arguments: Environment.allCases)
    func signedTransaction(environment: Environment) throws {
        let factory = SignedTransactionFactory(authority: authority)
        let text = try factory.signed(.sample(.gems("7"), environment), signedAt: now)

        let verified = try SignedTransactionVerifier(roots: roots).verify(EvidenceText(text), now: now)

        let purchase = try verified.purchase.get()
        #expect(purchase.transactionID == "7")
        #expect(purchase.environment == environment)
        let strange = SignedTransactionFactory(authority: try SimulatorAuthority(now: now))
        let forged = try strange.signed(.sample(.gems("7"), environment), signedAt: now)
        #expect(throws: SignedTransactionError.self) {
            try SignedTransactionVerifier(roots: roots).verify(EvidenceText(forged), now: now)
        }
    }

    @Test("A receipt is verified with all its purchases", arguments: SimulatorAuthority.ReceiptAlgorithm.allCases)
    func receipt(algorithm: SimulatorAuthority.ReceiptAlgorithm) throws {
        let authority = try SimulatorAuthority(receipts: algorithm, now: now)
        let purchases = (1...100).map { SimulatedPurchase.gems(TransactionID("\($0)")) }
        let text = try ReceiptFactory(authority: authority).base64(.sample(purchases))

        let receipt = try AppReceipt.parse(base64: EvidenceText(text))

        try ReceiptVerifier(roots: TrustedRoots(pem: authority.rootsPEM)).verify(receipt)
        #expect(receipt.bundleID == "com.example.game")
        #expect(receipt.purchases.map(\.transactionID) == purchases.map(\.transactionID))
        #expect(throws: ReceiptSignatureError.self) { try ReceiptVerifier(roots: roots).verify(receipt) }
    }
}
