public import Contract

/// The state of a question to Apple: an immutable value that knows its next call and the meaning of the reply.
///
/// It makes no calls itself. The gate of its ``endpoint`` admits each call as a separate attempt:
///
///     switch question.call(at: now) {
///     case .send(let call):                                       // over HTTPS
///         let meaning = question.received(reply, to: call, at: now)
///     case .concluded(let verdict):                               // there is nothing to send
///     }
///
/// A step concludes with a verdict, names the next question, or asks for a check of signatures on a checker's thread
/// (``checked(with:at:)``).
public protocol AppleQuestion: Sendable {
    var endpoint: Endpoint { get }

    /// The purchase that the question is about; nil if none is named or the App Store Server API is not asked. A grant
    /// of this purchase answers the submission without a call.
    var lookedUpTransaction: TransactionID? { get }

    /// The next call, or the verdict where none can be made.
    /// - Parameter now: wall-clock time, for the token of the App Store Server API.
    func call(at now: Timestamp) -> AppleCallStep

    /// Reads the end of a call, once for the question and for the endpoint. If Apple refused the call's token, the
    /// app's next one is new.
    /// - Parameters:
    ///   - call: The call that was made.
    ///   - now: Wall-clock time, for moments that Apple names relative to it.
    func received(_ reply: AppStoreReply, to call: AppleCall, at now: Timestamp) -> ReplyMeaning

    /// Goes on after a reply whose signatures have to be checked. For a thread that may take its time.
    /// - Parameter now: Wall-clock time, for signatures made ahead of our clock.
    func checked(with verifiers: SignatureVerifiers, at now: Timestamp) -> QuestionStep
}

/// The calls that all questions of one attempt make together.
public enum AttemptLimit {
    /// More calls than any attempt makes: the pages of a history as often as it is begun, and the calls before and
    /// beside.
    public static let mostCalls = (ServerAPIQuestion.maxRestarts + 1) * (ServerAPIQuestion.maxPages + 1) + 50
}

extension AppleQuestion {
    /// The step to another state of the question.
    func ask(_ change: (inout Self) -> Void = { _ in }) -> QuestionStep {
        var next = self
        change(&next)
        return .ask(next)
    }
}

/// A submission with the rules it is verified by, shared by all states of a question about it.
struct QuestionSubject: Sendable {
    let submission: Submission
    let rules: AppRules
    /// When its record was first checked. Nil for a row of `retries`, whose wait may cost no period.
    let firstCheckedAt: Timestamp?

    /// The submission, received no earlier than the purchase that it names was made.
    /// - Parameter known: The claimed purchase's id in Apple's records, where it differs from the claimed one.
    func submission(claiming purchases: [Purchase], as known: TransactionID? = nil) -> Submission {
        (known.map(submission.claiming) ?? submission).received(claiming: purchases, firstCheckedAt: firstCheckedAt)
    }
}

/// The step after a call, or after a check of signatures.
public enum QuestionStep: Sendable {
    case verdict(Verdict)
    /// Another call is needed: over a fresh connection, with another secret, to the other environment, for the next
    /// page. The gate of its endpoint has to admit it.
    case ask(any AppleQuestion)
    /// The reply holds signatures, or the receipt's own signature counts now: ``AppleQuestion/checked(with:at:)`` goes
    /// on.
    case check(any AppleQuestion)
}

/// A question's next step: a call, or the verdict where none can be made.
public enum AppleCallStep: Sendable {
    case send(AppleCall)
    case concluded(Verdict)
}

/// One HTTPS call to Apple. Its host is the configured one of ``endpoint``. No content of a submission or a reply can
/// change the host.
///
/// [verifyReceipt](https://developer.apple.com/documentation/appstorereceipts/verifyreceipt),
/// [App Store Server API](https://developer.apple.com/documentation/appstoreserverapi)
public struct AppleCall: Sendable {
    enum Content: Sendable {
        case verifyReceipt([ArraySlice<UInt8>])
        case serverAPI(path: String, BearerToken)
    }

    public enum Method: String, Hashable, Sendable {
        case get = "GET"
        case post = "POST"
    }

    public let endpoint: Endpoint
    /// Whether it has to be made over a connection that was never used before.
    public let isFresh: Bool
    let content: Content

    public var method: Method {
        switch content {
        case .verifyReceipt: .post
        case .serverAPI: .get
        }
    }

    /// Path and query, to be appended to the base URL of the App Store Server API. Empty for verifyReceipt, because its
    /// whole URL is configured.
    public var path: String {
        switch content {
        case .verifyReceipt: ""
        case .serverAPI(let path, _): path
        }
    }

    /// Secret, because of the token.
    public var headers: [(name: String, value: String)] {
        switch content {
        case .verifyReceipt: [("content-type", "application/json")]
        case .serverAPI(_, let token): [("authorization", "Bearer " + token.text)]
        }
    }

    /// The body, in parts that follow each other; empty for none. Secret, because of the receipt and the shared secret.
    public var bodyParts: [ArraySlice<UInt8>] {
        switch content {
        case .verifyReceipt(let parts): parts
        case .serverAPI: []
        }
    }
}

extension AppleCall: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(method.rawValue) \(endpoint)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Checks Apple's signatures. Shared by all threads.
public struct SignatureVerifiers: Sendable {
    public let transactions: SignedTransactionVerifier
    public let receipts: ReceiptVerifier

    public init(roots: TrustedRoots) {
        transactions = SignedTransactionVerifier(roots: roots)
        receipts = ReceiptVerifier(roots: roots)
    }

    func isSigned(_ receipt: AppReceipt) -> Bool { failure(of: receipt) == nil }

    /// Whether it is proven that Apple did not sign a receipt. A signature that cannot be verified is no such proof.
    func isForged(_ receipt: AppReceipt) -> Bool { failure(of: receipt)?.provesForgery ?? false }

    private func failure(of receipt: AppReceipt) -> ReceiptSignatureError? {
        do throws(ReceiptSignatureError) {
            try receipts.verify(receipt)
            return nil
        } catch {
            return error
        }
    }
}
