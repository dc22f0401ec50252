import AppStore
import Logging
import Purchases

/// Verifies one submission: asks Apple as often as an exchange needs, and concludes with a verdict.
struct Verifier: Sendable {
    let apps: AppRegistry
    let endpoint: any AppStoreEndpoint
    let clock: any WorkerClock
    let metrics: PipelineMetrics
    let alerts: AlertThrottle
    let logger: Logger

    /// Evidence that was looked at and can be brought before Apple, any number of times. Holds the receipt once, and
    /// nothing else of any size: thousands of cases wait at a time.
    struct Case: Sendable {
        fileprivate let registered: RegisteredApp
        /// What is claimed, without the evidence.
        fileprivate let claim: Submission
        fileprivate let receivedAt: Timestamp
        fileprivate let base64: [UInt8]
    }

    /// What a first look at the evidence leads to, without asking anybody.
    enum Opening: Sendable {
        case ask(Case)
        case concluded(Verdict)
    }

    /// Looks at the evidence: garbage is rejected here, at no cost to Apple.
    func open(_ submission: Submission, receivedAt: Timestamp) -> Opening {
        guard let registered = apps[submission.bundleID] else {
            return .concluded(.rejected(Rejection(.unknownApp, "No app with this bundle id is configured.")))
        }
        guard case .receipt(let base64) = submission.evidence else {
            return .concluded(
                .hold(.evidenceNotSupported, detail: "This version verifies receipts; the submission is kept."))
        }
        do throws(AppReceiptError) {
            let text = try ReceiptText(base64)
            if let rejection = try AppReceipt(der: text.bytes).contradiction(with: registered.app) {
                return .concluded(.rejected(rejection))
            }
            return .ask(
                Case(registered: registered, claim: submission.claim, receivedAt: receivedAt, base64: text.base64))
        } catch {
            return .concluded(.rejected(Rejection(.receiptMalformed, error.detail)))
        }
    }

    /// Brings a case before Apple once.
    func verify(_ opened: Case) async -> Verdict {
        var exchange = VerifyReceiptExchange(
            app: opened.registered.app, submission: opened.claim, receivedAt: opened.receivedAt, receipt: nil,
            base64: opened.base64, sharedSecrets: opened.registered.sharedSecrets)
        var step = exchange.start()
        while case .call(let environment, let body) = step {
            let started = clock.elapsed()
            let reply = await endpoint.verifyReceipt(environment, body: body)
            metrics.called(environment, reply, took: clock.elapsed() - started)
            if case .failed(let failure) = reply { warn(environment, failure) }
            step = exchange.answered(reply, now: clock.now())
        }
        guard case .conclude(let verdict) = step else {
            return .retry(.noAnswer, notBefore: nil, patience: .unlimited)
        }
        return verdict
    }

    private func warn(_ environment: Environment, _ failure: TransportFailure) {
        guard failure != .cancelled,
            let count = alerts.count("\(environment.rawValue).\(failure.rawValue)", at: clock.elapsed())
        else { return }
        logger.warning(
            "Apple does not answer; submissions are tried again until it does",
            metadata: ["environment": "\(environment.rawValue)", "cause": "\(failure.rawValue)", "calls": "\(count)"])
    }
}

extension Verifier.Case {
    /// The evidence, to be kept in the ledger.
    var evidence: Evidence { .receipt(base64: String(decoding: base64, as: UTF8.self)) }
}
