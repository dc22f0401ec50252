import Contract
import Logging
import Processing

extension AlertNews {
    /// No client can be made for the services that trust some authorities.
    /// - Parameter authorities: Their file; nil for the system's.
    static func serviceClientFailed(_ authorities: String?, _ cause: String) -> AlertNews {
        AlertNews(
            .serviceClientFailed, .error,
            "No client can be made for calls to inventory services; their apps' grants wait untold",
            ["ca_file": .text(authorities ?? systems), "cause": .text(cause)])
    }

    /// There is a client for them again, or the apps file needs none any more.
    static func serviceClientMade(_ authorities: String?, after: Duration) -> AlertNews {
        AlertNews(
            nil, .notice, "Calls to inventory services have their client again, or need it no more",
            ["ca_file": .text(authorities ?? systems), "failed_for_seconds": .seconds(after)])
    }

    private static let systems = "the system's"

    init(_ alert: CallAlert) {
        switch alert {
        case .serviceAway(let app, let fault):
            self.init(
                .serviceAway, .warning,
                "An inventory service cannot be called; its app's grants wait for it untold, all others go on",
                ["app": "\(app)", "cause": .text(fault ?? "answers take too long")])
        case .serviceStillAway(let app, let after, let waiting):
            self.init(
                .serviceStillAway, .error, "An inventory service still cannot be called; its app's grants wait untold",
                ["app": "\(app)", "away_seconds": .seconds(after), "waiting": .number(waiting)])
        case .serviceAnswers(let app, let after, let waited):
            self.init(
                nil, .notice, "An inventory service answers again; what waited is told now",
                ["app": "\(app)", "away_seconds": .seconds(after), "waited": .number(waited)])
        case .callsOverdue(let app, let rows, let age, let fault):
            self.init(
                .callsOverdue, .error,
                "Calls to an inventory service fail, and it is not away; paid grants wait untold and are called again",
                [
                    "app": "\(app)", "cause": .text(fault), "waiting": .number(rows),
                    "oldest_seconds": .seconds(age),
                ])
        case .callsOverdueOver(let app, let after):
            self.init(
                nil, .notice, "No call to an inventory service is overdue any more",
                ["app": "\(app)", "overdue_for_seconds": .seconds(after)])
        case .grantsRefused(let app, let rows):
            self.init(
                .grantsRefused, .error,
                "An inventory service refuses paid grants; they wait untold, and it is called again and again",
                ["app": "\(app)", "refused": .number(rows)])
        case .grantsRefusedOver(let app, let after):
            self.init(
                nil, .notice, "An inventory service refuses no grant any more",
                ["app": "\(app)", "refused_for_seconds": .seconds(after)])
        case .serviceMissing(let app, let rows):
            self.init(
                .serviceMissing, .error,
                "Grants wait untold for an inventory service that the apps file does not name; put it back",
                ["app": "\(app)", "waiting": .number(rows)])
        case .serviceMissingOver(let app, let after):
            self.init(
                nil, .notice, "No grant waits for an inventory service that the apps file does not name",
                ["app": "\(app)", "missing_for_seconds": .seconds(after)])
        }
    }
}
