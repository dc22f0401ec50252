import AppStore
import CommandParser
import Configuration
import Contract
import Fulfilment
import Ledger

/// `grantor check` of the way to inventory services.
struct ServiceCheck {
    /// Makes a harmless call and waits for its end.
    let call: @Sendable (FulfilmentService) -> FulfilmentReply

    func results(_ apps: ConfiguredApps) -> [CheckLine] {
        apps.all.compactMap { app in
            app.fulfilment.map { service in
                let line = Self.line("inventory service, \(app.app.bundleID)", call(service))
                let ending = service.isEnding ? "; it is ending: new grants are published without a call" : ""
                return CheckLine(line.name, line.outcome, line.detail + ending)
            }
        }
    }

    /// A GET without key and signature: any answer of its own shows that name, TLS and port are right. Without a grant
    /// nobody can tell whether it knows the secret.
    static func line(_ name: String, _ reply: FulfilmentReply) -> CheckLine {
        switch reply {
        case .response(500..., _, _):
            CheckLine(name, .warning, "answers with \(Self.words(reply)); grants of the app wait for it")
        case .response: CheckLine(name, .good, "answers (\(Self.words(reply)) to a GET)")
        case .failed(let failure) where failure == .tls:
            CheckLine(name, .failed, "no answer: \(Self.words(reply))")
        case .failed:
            CheckLine(name, .warning, "no answer: \(Self.words(reply)); grants of the app wait for it")
        }
    }

    private static func words(_ reply: FulfilmentReply) -> String {
        switch reply {
        case .response(let status, _, _): "HTTP \(status)"
        case .failed(let failure): FulfilmentAnswer.silent(failure).words
        }
    }

    /// Grants wait for the yes of services that no app has any more; empty for none.
    static func missing(_ owed: [OutboxRow], _ apps: ConfiguredApps) -> String {
        let missing = Set(
            owed.compactMap { row in
                if case .service(let app) = row.target, apps[app]?.fulfilment == nil { app.rawValue } else { nil }
            })
        guard !missing.isEmpty else { return "" }
        let names = PrintableText.singleLine(missing.sorted().joined(separator: ", "))
        return "grants of \(names) wait untold for an inventory service that the apps file does not name"
    }
}
