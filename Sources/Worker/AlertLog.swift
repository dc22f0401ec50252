import Contract
import Logging
import Processing

/// Logs the core's news in constant messages, and counts them.
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

    /// The line has the kind under which the metric counts it, and by which people find it.
    func tell(_ news: AlertNews) {
        var metadata = news.metadata
        if let kind = news.kind {
            metrics.alert(kind)
            metadata["kind"] = "\(kind.rawValue)"
        }
        logger.log(level: news.level, news.message, metadata: metadata)
    }
}
