import Configuration
import Contract
import Logging
import Processing
import Scheduling

/// Reads the apps file again on SIGHUP. A file that cannot be used is logged again and again: the next start may use
/// it, and the worker then ends.
struct AppsReloading {
    /// Most names in one line; of the others it has the number.
    static let mostNames = 20

    private let file: String
    private let logger: Logger
    private let alerts: AlertLog
    private var snapshots: SnapshotMaker
    /// The apps in force.
    private var apps: ConfiguredApps?
    private var version = 1
    private var refusal = Reminder()
    private var cause = ""

    /// - Parameter apps: In force since the start.
    init(
        file: String, _ apps: ConfiguredApps?, _ snapshots: SnapshotMaker, logger: Logger, alerts: AlertLog
    ) {
        self.file = file
        self.apps = apps
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
            warn("Apps are missing in the apps file now; their submissions are held", missing)
            if let former = self.apps { warn(of: former, apps) }
            self.apps = apps
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

    /// Tells what a file lacks of apps that it still has.
    private func warn(of former: ConfiguredApps, _ apps: ConfiguredApps) {
        let new = Dictionary(apps.all.map { ($0.app.bundleID, $0) }) { first, _ in first }
        var (silent, products): ([String], [String]) = ([], [])
        for old in former.all {
            guard let new = new[old.app.bundleID] else { continue }
            if old.fulfilment != nil, new.fulfilment == nil { silent.append(old.app.bundleID.rawValue) }
            guard case .catalogue(let before) = old.app.products, case .catalogue(let now) = new.app.products
            else { continue }
            products += before.keys.filter { now[$0] == nil }.map { "\(old.app.bundleID.rawValue): \($0.rawValue)" }
        }
        warn("Apps have no fulfillment any more; events alone tell their grants, and calls that are owed wait", silent)
        warn(
            "Products are missing in the apps file now; their purchases are held, or fail if the app says so", products)
    }

    private func warn(_ line: String, _ names: [String]) {
        guard !names.isEmpty else { return }
        let more = names.count - Self.mostNames
        let named = names.sorted().prefix(Self.mostNames) + (more > 0 ? ["and \(more) more"] : [])
        logger.warning(line, metadata: ["missing": .text(named.joined(separator: ", "))])
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
