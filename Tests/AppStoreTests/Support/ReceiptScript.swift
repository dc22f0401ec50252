import Contract
import Cryptography

@testable import AppStore

/// Plays Apple's side of a question about a receipt.
enum ReceiptScript {
    /// A receipt in base64, and the roots that verifiers trust.
    struct Receipt {
        let base64: [UInt8]
        let roots: TrustedRoots

        init(_ signing: ReceiptSigning) throws {
            base64 = Array(SignedToken.base64(try signing.der()).utf8)
            roots = signing.roots
        }
    }

    /// A receipt that Apple signed.
    static func signed(_ purchases: [String] = ["2001"], origin: String = "Production") throws -> Receipt {
        try receipt(purchases, origin) { _ in }
    }

    /// A receipt that Apple signed, with these purchases.
    static func signed(entries: [[ReceiptBuilder.Attribute]]) throws -> Receipt {
        var signing = try ReceiptSigning.p256()
        signing.builder = ReceiptBuilder.receipt(origin: "Production", purchases: entries)
        return try Receipt(signing)
    }

    /// A purchase that is no period of a subscription.
    static func entry(
        _ id: String, original: String? = nil, product: ProductID = "gems", isDated: Bool = true
    ) -> [ReceiptBuilder.Attribute] {
        [
            (1701, ReceiptBuilder.integer(1)), (1702, ReceiptBuilder.utf8(product.rawValue)),
            (1703, ReceiptBuilder.utf8(id)), (1704, ReceiptBuilder.ia5(isDated ? "2026-11-21T04:59:02Z" : "")),
            (1705, ReceiptBuilder.utf8(original ?? id)),
        ]
    }

    /// One that somebody changed after Apple signed it.
    static func forged(_ purchases: [String] = ["2001"], origin: String = "Production") throws -> Receipt {
        try receipt(purchases, origin) { $0.alterSignature = { ReceiptCase.flipped($0, at: -1) } }
    }

    /// One that Apple signed in a way that this version does not know.
    static func unknown(_ purchases: [String] = ["2001"], origin: String = "Production") throws -> Receipt {
        try receipt(purchases, origin) { $0.namedDigest = ReceiptSigning.sha512 }
    }

    private static func receipt(
        _ purchases: [String], _ origin: String, _ change: (inout ReceiptSigning) -> Void
    ) throws -> Receipt {
        var signing = try ReceiptSigning.p256()
        signing.builder = ReceiptBuilder.receipt(
            origin: origin,
            purchases: purchases.map { ReceiptBuilder.purchase(transactionID: $0, productID: "gems") })
        change(&signing)
        return try Receipt(signing)
    }

    /// Asks about a receipt, and answers with the bodies in turn.
    /// - Parameter receipt: Nil for a text that is none.
    static func run(
        _ receipt: Receipt? = nil, _ bodies: [[UInt8]], app: App = Fixture.app(),
        _ submission: Submission = Fixture.submission(), hasKey: Bool = false,
        fingerprint: ReceiptFingerprint = ReceiptFingerprint(), then replies: [AppStoreReply] = []
    ) throws -> QuestionScript {
        let rules = try QuestionScript.rules(app, hasKey: hasKey)
        let question = ReceiptQuestion(
            subject: QuestionSubject(submission: submission, rules: rules),
            base64: (receipt?.base64 ?? Array("AAAA".utf8))[...], fingerprint: fingerprint)
        // Transactions in replies of the App Store Server API have them, too.
        let roots = try receipt.map {
            TrustedRoots(certificates: $0.roots.certificates + [try SignedToken.chain.rootCertificate()])
        }
        return try QuestionScript(question, bodies.map { QuestionScript.reply($0) } + replies, roots: roots)
    }
}
