import Contract
import Logging
import Processing

/// Tells people what the core has to say, in constant messages, and counts it.
struct AlertLog: Sendable {
    let logger: Logger
    let metrics: WorkerMetrics
    /// The topics' names by the configuration.
    let topics: [Topic: String]

    func tell(_ alerts: [Alert]) {
        for alert in alerts {
            if case .breakerOpened(let endpoint, _) = alert { metrics.apple.opened(endpoint) }
            tell(AlertNews(alert, topics: topics))
        }
    }

    func tell(_ news: AlertNews) {
        if let kind = news.kind { metrics.alert(kind) }
        logger.log(level: news.level, news.message, metadata: news.metadata)
    }
}
