import Contract
import FoundationEssentials

@testable import AppStore

/// Plays Apple's side of a question to the App Store Server API.
enum ServerAPIScript {
    static let id: TransactionID = "2000000000000001"
    static let path = "/inApps/v1/transactions/2000000000000001"
    static let notFound = error(4_040_010)
    static let unauthenticated = reply(401, "Unauthenticated\n\nRequest ID: ABC.0.0\n")

    static func question(
        _ target: ServerAPIQuestion.Target = .transaction(id), isAttested: Bool = false,
        in environment: Environment? = nil,
        app: App = Fixture.app(), _ submission: Submission = Fixture.submission()
    ) throws -> any AppleQuestion {
        let subject = QuestionSubject(submission: submission, rules: try QuestionScript.rules(app, hasKey: true))
        return ServerAPIQuestion(subject: subject, target: target, isAttested: isAttested, in: environment)
    }

    static func reply(_ status: Int, _ body: String, retryAfter: String? = nil) -> AppStoreReply {
        QuestionScript.reply(status, body, retryAfter: retryAfter)
    }

    /// An error as Apple writes it.
    static func error(_ code: Int, status: Int? = nil) -> AppStoreReply {
        reply(status ?? code / 10_000, #"{"errorCode":\#(code),"errorMessage":"x"}"#)
    }

    /// The answer about a transaction with members changed.
    static func found(_ changes: [String: String?] = [:]) throws -> AppStoreReply {
        reply(200, #"{"signedTransactionInfo":"\#(try SignedToken(changes).text())"}"#)
    }

    /// The same of the sandbox.
    static func foundInSandbox() throws -> AppStoreReply { try found(["environment": "\"Sandbox\""]) }

    /// A page of a history. Each transaction is the usual one with members changed.
    static func page(
        _ transactions: [[String: String?]], next: String? = nil, more: String = #","environment":"Production""#
    ) throws -> AppStoreReply {
        let texts = try transactions.map { try SignedToken($0).text() }
        let revision = next.map { #","revision":"\#($0)""# } ?? ""
        return reply(
            200, #"{"signedTransactions":\#(SignedToken.list(texts)),"hasMore":\#(next != nil)\#(revision)\#(more)}"#)
    }

    /// Members of a transaction by another id.
    static func transaction(_ id: String, _ changes: [String: String?] = [:]) -> [String: String?] {
        changes.merging(["transactionId": "\"\(id)\"", "originalTransactionId": "\"\(id)\""]) { first, _ in first }
    }

    /// The verdict on a bare transaction id.
    static func verdict(on replies: AppStoreReply..., app: App = Fixture.app()) throws -> Verdict? {
        try QuestionScript(question(app: app), replies).verdict
    }
}

extension Environment {
    /// As Apple's replies have it.
    var nameInAnswers: String { self == .production ? "Production" : "Sandbox" }
}

extension SignedToken {
    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
