import CertificateMaking
import Contract
import Cryptography

@testable import AppStore

/// Plays Apple's side of a question.
struct QuestionScript {
    /// The calls that were made, each as where it went and how.
    var calls: [String] = []
    /// Nil if more was asked than there were replies.
    var verdict: Verdict?
    /// The endpoint's state by each reply.
    var outcomes: [CallOutcome] = []

    /// Answers the calls of a question in turn, and checks the signatures that it wants checked.
    ///
    /// - Parameter seconds: How long each call takes.
    init(
        _ question: any AppleQuestion, _ replies: [AppStoreReply], roots: TrustedRoots? = nil, taking seconds: Int64 = 0
    ) throws {
        var now = Fixture.now
        let verifiers = try roots.map { SignatureVerifiers(roots: $0) } ?? Self.verifiers.get()
        var rest = replies[...]
        var step = QuestionStep.ask(question)
        while true {
            switch step {
            case .verdict(let verdict):
                self.verdict = verdict
                return
            case .check(let question): step = question.checked(with: verifiers, at: now)
            case .ask(let question):
                guard case .send(let call) = question.call(at: now) else { return }
                calls.append(Self.describe(call))
                guard let reply = rest.popFirst() else { return }
                now = now.advanced(by: .seconds(seconds))
                let received = question.received(reply, to: call, at: now)
                outcomes.append(received.outcome)
                step = received.step
            }
        }
    }

    /// Such as `production /inApps/v1/transactions/1 over a fresh connection`; of verifyReceipt the password in the
    /// path's place.
    private static func describe(_ call: AppleCall) -> String {
        let what =
            switch call.content {
            case .verifyReceipt(let parts):
                String(decoding: parts[3], as: UTF8.self).contains("password")
                    ? String(decoding: parts[3], as: UTF8.self).prefix { $0 != "," }.filter { !"\":".contains($0) }
                    : "verifyReceipt"
            case .serverAPI(let path, let token): path + (token.number > 1 ? " with a fresh token" : "")
            }
        return "\(call.endpoint.environment.rawValue) \(what)" + (call.isFresh ? " over a fresh connection" : "")
    }

    static func reply(_ status: Int, _ body: String, retryAfter: String? = nil) -> AppStoreReply {
        .response(httpStatus: status, retryAfter: retryAfter, body: Array(body.utf8))
    }

    static func reply(_ body: [UInt8]) -> AppStoreReply { .response(httpStatus: 200, retryAfter: nil, body: body) }

    private static let verifiers = Result { SignatureVerifiers(roots: try SignedToken.chain.roots()) }

    /// A key of the App Store Server API.
    static let credentials = Result { () throws in
        try ServerAPICredentials(issuerID: "issuer", keyID: "KEY", privateKeyPEM: PrivateKey.new(.p256).pem)
    }

    static func rules(
        _ app: App = Fixture.app(), receipts: ReceiptMethod = .verifyReceipt,
        secrets: [SharedSecret] = [SharedSecret("first")], hasKey: Bool = false, confirmsOlderThan: Duration? = nil
    ) throws -> AppRules {
        AppRules(
            app: app, receipts: receipts, sharedSecrets: secrets, serverAPI: hasKey ? try credentials.get() : nil,
            confirmsSignedTransactionsOlderThan: confirmsOlderThan)
    }
}
