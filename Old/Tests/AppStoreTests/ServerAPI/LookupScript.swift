import Purchases

@testable import AppStore

/// Plays Apple's side of a look-up.
enum LookupScript {
    static let id: TransactionID = "2000000000000001"
    static let path = "/inApps/v1/transactions/2000000000000001"
    static let notFound = error(4_040_010)
    static let unauthenticated = reply(401, "Unauthenticated\n\nRequest ID: ABC.0.0\n")

    static func lookup(
        _ question: TransactionLookup.Question = .transaction(id), app: App = Fixture.app(),
        _ submission: Submission = Fixture.submission()
    ) throws -> TransactionLookup {
        TransactionLookup(
            app: app, submission: submission, receivedAt: Fixture.now, question: question,
            transactions: SignedTransactionVerifier(roots: try SignedToken.chain.roots()))
    }

    static func reply(_ status: Int, _ body: String, retryAfter: String? = nil) -> AppStoreReply {
        .response(httpStatus: status, retryAfter: retryAfter, body: Array(body.utf8))
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

    /// What was asked of whom, and the verdict; nil if it asks for more than there are replies.
    static func run(
        _ lookup: TransactionLookup, _ replies: [AppStoreReply]
    ) -> (calls: [String], verdict: Verdict?) {
        var lookup = lookup
        var calls: [String] = []
        var rest = replies[...]
        var step = lookup.start()
        while case .call(let environment, let request, let freshToken, let isFresh) = step {
            let ways = (freshToken ? " with a fresh token" : "") + (isFresh ? " over a fresh connection" : "")
            calls.append("\(environment.rawValue) \(request.path)\(ways)")
            guard let reply = rest.popFirst() else { return (calls, nil) }
            step = lookup.answered(reply, now: Fixture.now)
        }
        guard case .conclude(let verdict) = step else { return (calls, nil) }
        return (calls, verdict)
    }

    /// The verdict on a bare transaction id.
    static func verdict(on replies: AppStoreReply..., app: App = Fixture.app()) throws -> Verdict? {
        run(try lookup(app: app), replies).verdict
    }
}
