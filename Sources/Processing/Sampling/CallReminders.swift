import Contract
import Ledger
import Scheduling

/// Reports waiting fulfilment calls once in a while. They wait for a service that is away or missing in the apps file,
/// or for a person because the service refuses their grants. Or their calls fail, and too few do for the service to be
/// away.
struct CallReminders {
    private enum Trouble: Hashable {
        case refused(BundleID)
        case missing(BundleID)
        case overdue(BundleID)

        /// In an order that does not change from run to run.
        var order: String {
            switch self {
            case .refused(let app): "refused \(app)"
            case .missing(let app): "missing \(app)"
            case .overdue(let app): "overdue \(app)"
            }
        }
    }

    private var reminders: [Trouble: Reminder] = [:]

    /// The age at which a call is overdue: it is made again every minute.
    static let overdueAfter: Duration = .seconds(300)

    /// A sample is here.
    mutating func remind(of measure: LedgerMeasure, _ gates: inout GateTable, _ turn: inout Turn) {
        let services = Set(turn.apps?.services.map(\.bundleID) ?? [])
        var lasting: [Trouble] = []
        for owed in measure.calls {
            let app = owed.bundleID
            if owed.refused > 0 {
                lasting.append(.refused(app))
                tell(.refused(app), .grantsRefused(app, rows: owed.refused), &turn)
            }
            let age = owed.oldest.map { measure.takenAt.since($0) } ?? .zero
            if age >= Self.overdueAfter { lasting.append(.overdue(app)) }
            if !services.contains(app) {
                lasting.append(.missing(app))
                tell(.missing(app), .serviceMissing(app, rows: owed.rows), &turn)
                continue
            }
            let gate = gates.index(of: .service(app))
            remindOfFaults(of: owed, age, at: gate, gates, &turn)
            guard let time = gates.dueReminder(at: gate, turn.now) else { continue }
            turn.alert(.calls(.serviceStillAway(app, after: time, waiting: owed.rows)))
        }
        let over = reminders.filter { !lasting.contains($0.key) }
        for (trouble, reminder) in over.sorted(by: { $0.key.order < $1.key.order }) {
            reminders[trouble] = nil
            guard let since = reminder.since else { continue }
            switch trouble {
            case .refused(let app): turn.alert(.calls(.grantsRefusedOver(app, after: turn.now - since)))
            case .missing(let app): turn.alert(.calls(.serviceMissingOver(app, after: turn.now - since)))
            case .overdue(let app): turn.alert(.calls(.callsOverdueOver(app, after: turn.now - since)))
            }
        }
    }

    /// Reports overdue calls of a service that is not away. Only a worker whose own call failed reports them: after an
    /// outage much is overdue, and nothing is wrong any more.
    private mutating func remindOfFaults(
        of owed: LedgerMeasure.Calls, _ age: Duration, at gate: Int, _ gates: borrowing GateTable, _ turn: inout Turn
    ) {
        guard age >= Self.overdueAfter, gates[gate].troubledSinceTold == nil, let fault = gates[gate].latestFault,
            turn.now - fault.at < Self.overdueAfter
        else { return }
        let app = owed.bundleID
        tell(.overdue(app), .callsOverdue(app, rows: owed.rows - owed.refused, age: age, fault: fault.words), &turn)
    }

    private mutating func tell(_ trouble: Trouble, _ alert: CallAlert, _ turn: inout Turn) {
        let news = reminders[trouble, default: Reminder()].observe(true, at: turn.now)
        if news != nil { turn.alert(.calls(alert)) }
    }
}
