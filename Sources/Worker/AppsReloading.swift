import Configuration
import Contract
import Logging
import Processing
import Scheduling

/// Reads the apps file again on SIGHUP. A file that cannot be used is logged again and again: the next start may use
/// it, and the worker then ends.
struct AppsReloading {
    private let file: String
    private let logger: Logger
    private let alerts: AlertLog
    private var snapshots: SnapshotMaker
    private var version = 1
    private var refusal = Reminder()
    private var cause = ""

    init(file: String, _ snapshots: SnapshotMaker, logger: Logger, alerts: AlertLog) {
        self.file = file
        self.snapshots = snapshots
        self.logger = logger
        self.alerts = alerts
    }

    /// When the alert is to be repeated; nil while the file is in force.
    var nextMoment: Instant? { refusal.nextMoment }

    /// - Returns: the apps in force from now on; nil if those of before stay.
    mutating func reload(at now: Instant) -> AppsSnapshot? {
        version += 1
        let moment = Timestamp.now
        do throws(ConfigurationError) {
            let apps = try ConfiguredApps(file: file)
            let next = snapshots.next(apps, version: version)
            let missing = snapshots.known.subtracting(apps.all.map(\.app.bundleID)).map(\.rawValue).sorted()
            logger.notice("The apps file is read again", metadata: ["apps": .number(apps.all.count)])
            if !missing.isEmpty {
                logger.warning(
                    "Apps are missing in the apps file now; their submissions are held",
                    metadata: ["missing": .text(missing.joined(separator: ", "))])
            }
            alerts.metrics.taken(apps, readAt: moment)
            tell(refusal.observe(false, at: now))
            return next
        } catch {
            cause = error.description
            alerts.metrics.appsFileRefused()
            // A person has just asked, so the line waits for no pause.
            refusal = Reminder(of: refusal)
            tell(refusal.observe(true, at: now))
            return nil
        }
    }

    /// Repeats the alert about a refused file when that is due.
    mutating func remind(at now: Instant) {
        if refusal.since != nil { tell(refusal.observe(true, at: now)) }
    }

    private func tell(_ news: Reminder.News?) {
        switch news {
        case .lasts:
            alerts.tell(
                AlertNews(
                    .appsFileRefused, .error,
                    "The apps file cannot be used; the one that was read before stays in force", ["cause": .text(cause)]
                ))
        case .over(let time):
            alerts.tell(
                AlertNews(nil, .notice, "The apps file can be used again", ["refused_seconds": .seconds(time)]))
        case nil: break
        }
    }
}
