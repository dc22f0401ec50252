import AppStore
import Configuration
import Contract

/// `grantor check` of the way to Apple, and of the apps' keys.
struct AppleCheck {
    let apple: any AppleCaller
    let now: @Sendable () -> Timestamp

    func results(_ apps: ConfiguredApps) -> [CheckLine] {
        var results: [CheckLine] = []
        if apps.all.contains(where: { $0.receipts == .verifyReceipt }) {
            results += Environment.allCases.map { verifyReceipt($0) }
        }
        for app in apps.all where app.serverAPI != nil { results.append(key(of: app)) }
        return results
    }

    /// An empty request: Apple replies with a status, which shows that name, TLS and endpoint are right. Without one of
    /// the app's receipts nobody can tell whether a shared secret is the app's.
    private func verifyReceipt(_ environment: Environment) -> CheckLine {
        let name = "Apple verifyReceipt, \(environment.rawValue)"
        let reply = apple.replyToEmptyReceipt(environment)
        switch reply {
        case .response where reply.isOfVerifyReceipt: return CheckLine(name, .good, "answers")
        case .response(200, _, _): return CheckLine(name, .failed, "answers with a page that is none of Apple's")
        case .response(let status, _, _):
            return CheckLine(name, apple: "answers with HTTP \(status)", isApples: Self.isTrouble(status))
        case .failed(let failure):
            return CheckLine(name, apple: "no answer: \(failure.words)", isApples: failure.isApples)
        }
    }

    /// Asks for a transaction that does not exist. Production says 401 to apps that were never released, too, so the
    /// sandbox is asked after that.
    private func key(of app: ConfiguredApp) -> CheckLine {
        let name = "App Store Server API, \(app.app.bundleID)"
        let rules = app.makeRules()
        switch ask(rules, .production) {
        case nil: return CheckLine(name, .failed, "no token can be signed with the key")
        case .refused?:
            switch ask(rules, .sandbox) {
            case .accepted?:
                return CheckLine(name, .good, "key accepted by the sandbox; production refuses unreleased apps")
            case .refused?, nil:
                return CheckLine(name, .failed, "refused (HTTP 401): issuer, key id, key or bundle id is wrong")
            case let other?: return Self.result(name, other, .sandbox)
            }
        case let other?: return Self.result(name, other, .production)
        }
    }

    private func ask(_ rules: AppRules, _ environment: Environment) -> ServerAPIKeyCheck? {
        ServerAPIKeyCheck.call(rules, in: environment, at: now()).map { ServerAPIKeyCheck(apple.reply(to: $0)) }
    }

    private static func result(_ name: String, _ check: ServerAPIKeyCheck, _ environment: Environment) -> CheckLine {
        switch check {
        case .accepted: return CheckLine(name, .good, "key accepted by \(environment.rawValue)")
        case .refused: return CheckLine(name, .failed, "key refused by \(environment.rawValue)")
        case .other(let status, let code):
            let error = code.map { ", error \($0)" } ?? ", without an error of Apple's"
            return CheckLine(
                name, apple: "\(environment.rawValue) answers with HTTP \(status)\(error)", isApples: isTrouble(status))
        case .failed(let failure):
            return CheckLine(
                name, apple: "\(environment.rawValue): no answer: \(failure.words)", isApples: failure.isApples)
        }
    }

    private static func isTrouble(_ status: Int) -> Bool { status >= 500 || status == 429 }
}
