/// Something that goes wrong, in the words of a run's report.
enum FaultKind: String, CaseIterable, Sendable {
    case workerKilled = "worker killed"
    case workerRestarted = "worker restarted"
    case workerFrozen = "worker frozen"
    case workerFrozenPastItsSession = "worker frozen past its session"

    case brokerKilled = "broker killed"
    /// It hands its partitions over first (SIGTERM).
    case brokerRestarted = "broker restarted"
    case brokerFrozen = "broker frozen"
    case leadersElected = "leaders elected"
    /// Events need more brokers than there are (`min.insync.replicas`).
    case eventsNotReplicated = "topic of grants without enough replicas"
    /// Events are too large (`max.message.bytes`).
    case eventsRefused = "topic of grants refusing every size"
    case brokerDiskFull = "broker's disk full"

    case databaseKilled = "database killed"
    /// It ends without a checkpoint (`pg_ctl -m immediate`).
    case databaseCrashed = "database crashed"
    /// Sessions are ended and a checkpoint is written (`pg_ctl -m fast`).
    case databaseRestarted = "database restarted"
    case databaseFrozen = "database frozen"
    case databaseDiskFull = "database's disk full"
    /// All at once (`pg_terminate_backend`).
    case sessionsEnded = "sessions ended"
    /// The server never gets a round trip's statements.
    case statementsCut = "connection cut before statements"
    /// The server has carried out a round trip's statements, perhaps a commit, and the session does not learn of it.
    case answerCut = "connection cut before the answer"
    /// Commits wait for it.
    case standbyFrozen = "standby frozen"
    case standbyKilled = "standby killed"

    case appleUnavailable = "Apple answering 503"
    case appleSilent = "Apple silent"
    case appleSlow = "Apple slow"
    case appleAway = "Apple away"

    /// The part that it strikes: faults of one part come one after the other, those of different parts at any time.
    enum Part: String, CaseIterable, Sendable {
        case workers, brokers, database, apple

        /// Milliseconds from the end of a fault to the next one.
        var gap: ClosedRange<Int> {
            switch self {
            case .workers, .database: 2000...5000
            case .brokers: 3000...6000
            case .apple: 4000...10_000
            }
        }
    }

    var part: Part {
        switch self {
        case .workerKilled, .workerRestarted, .workerFrozen, .workerFrozenPastItsSession: .workers
        case .brokerKilled, .brokerRestarted, .brokerFrozen, .leadersElected, .eventsNotReplicated, .eventsRefused,
            .brokerDiskFull:
            .brokers
        case .databaseKilled, .databaseCrashed, .databaseRestarted, .databaseFrozen, .databaseDiskFull, .sessionsEnded,
            .statementsCut, .answerCut, .standbyFrozen, .standbyKilled:
            .database
        case .appleUnavailable, .appleSilent, .appleSlow, .appleAway: .apple
        }
    }

    var needsSmallDisk: Bool { self == .brokerDiskFull || self == .databaseDiskFull }

    /// How long it lasts, in milliseconds. The group's session is ``FleetRun/sessionTimeout``.
    var milliseconds: ClosedRange<Int> {
        switch self {
        case .workerKilled, .workerRestarted: 0...3000
        case .workerFrozen: 500...4000
        case .workerFrozenPastItsSession: 7000...12_000
        case .brokerKilled, .brokerRestarted: 500...5000
        case .brokerFrozen: 2000...10_000
        case .eventsNotReplicated, .eventsRefused: 3000...8000
        case .brokerDiskFull: 3000...8000
        case .databaseKilled, .databaseCrashed: 0...4000
        case .databaseFrozen: 1000...15_000
        case .databaseDiskFull: 3000...8000
        case .standbyFrozen, .standbyKilled: 1000...6000
        case .leadersElected, .databaseRestarted, .sessionsEnded, .statementsCut, .answerCut: 0...0
        case .appleUnavailable, .appleSilent, .appleSlow, .appleAway: 3000...10_000
        }
    }
}

/// One fault: when, what, where, for how long.
struct Fault: Hashable, Sendable {
    /// Milliseconds after the first submission. It comes later if the fault before took its time.
    let start: Int
    let kind: FaultKind
    /// The number of the worker or broker, from 0; for a cut connection its worker's; 0 where there is only one.
    let place: Int
    /// Milliseconds.
    let duration: Int
    /// The number of the round trip that is cut.
    let roundTrip: Int

    /// The fault and its place.
    var text: String {
        switch kind {
        case .workerKilled, .workerRestarted, .workerFrozen, .workerFrozenPastItsSession: "\(kind.rawValue): \(place)"
        case .brokerKilled, .brokerRestarted, .brokerFrozen, .brokerDiskFull: "\(kind.rawValue): \(place)"
        case .statementsCut, .answerCut: "\(kind.rawValue): worker \(place), round trip \(roundTrip)"
        default: kind.rawValue
        }
    }
}
