import Contract
import Ledger
import Scheduling

/// Tells once in a while of fulfilment calls that wait. They wait for a service that is away or not named in the apps
/// file, or for a person because the service refuses their grants.
struct CallReminders {
    private enum Trouble: Hashable {
        case refused(BundleID)
        case missing(BundleID)

        /// In an order that does not change from run to run.
        var order: String {
            switch self {
            case .refused(let app): "refused \(app)"
            case .missing(let app): "missing \(app)"
            }
        }
    }

    private var reminders: [Trouble: Reminder] = [:]

    /// A sample is here.
    mutating func remind(of calls: [LedgerMeasure.Calls], _ gates: inout GateTable, _ turn: inout Turn) {
        let services = Set(turn.apps?.services.map(\.bundleID) ?? [])
        var lasting: [Trouble] = []
        for owed in calls {
            let app = owed.bundleID
            if owed.refused > 0 {
                lasting.append(.refused(app))
                tell(.refused(app), .grantsRefused(app, rows: owed.refused), &turn)
            }
            if !services.contains(app) {
                lasting.append(.missing(app))
                tell(.missing(app), .serviceMissing(app, rows: owed.rows), &turn)
                continue
            }
            let gate = gates.index(of: .service(app))
            guard let since = gates[gate].troubledSinceTold,
                gates[gate].troubleToldAt.map({ turn.now - $0 >= Reminder.pause }) ?? true
            else { continue }
            gates.update(gate) { [now = turn.now] in $0.troubleToldAt = now }
            turn.alert(.calls(.serviceStillAway(app, after: turn.now - since, waiting: owed.rows)))
        }
        let over = reminders.filter { !lasting.contains($0.key) }
        for (trouble, reminder) in over.sorted(by: { $0.key.order < $1.key.order }) {
            reminders[trouble] = nil
            guard let since = reminder.since else { continue }
            switch trouble {
            case .refused(let app): turn.alert(.calls(.grantsRefusedOver(app, after: turn.now - since)))
            case .missing(let app): turn.alert(.calls(.serviceMissingOver(app, after: turn.now - since)))
            }
        }
    }

    private mutating func tell(_ trouble: Trouble, _ alert: CallAlert, _ turn: inout Turn) {
        let news = reminders[trouble, default: Reminder()].observe(true, at: turn.now)
        if news != nil { turn.alert(.calls(alert)) }
    }
}
