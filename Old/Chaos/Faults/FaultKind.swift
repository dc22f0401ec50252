/// Something that goes wrong, named as the schedule and the summary print it.
enum FaultKind: String, CaseIterable, Comparable, Sendable {
    /// SIGKILL; a new process comes in the worker's place.
    case kill = "worker killed"
    /// SIGTERM; a new process comes in the worker's place once the old one has ended by itself.
    case restart = "worker restarted"
    /// SIGSTOP for longer than the group's session, then SIGCONT: the worker goes on with what it no longer owns.
    case freeze = "worker frozen past its session"
    /// SIGSTOP for less than the session.
    case pause = "worker paused"
    /// SIGTERM, and nobody in the worker's place for a while.
    case remove = "worker removed"
    /// One worker more for a while.
    case add = "worker added"

    /// PostgreSQL ends every session and stops in order, and comes back (`pg_ctl -m fast`).
    case databaseRestart = "database restarted"
    /// PostgreSQL ends without a checkpoint and recovers from its log (`pg_ctl -m immediate`).
    case databaseCrash = "database crashed"

    /// Connections are reset; new ones get through at once.
    case databaseCut = "database connections cut"
    /// Connections stay and nothing gets through until the end; then all of it does.
    case databaseStall = "database connections stalled"
    /// Both sides keep connections whose bytes vanish.
    case databaseHalfOpen = "database connections half open"
    /// New connections are reset too.
    case databaseRefused = "database connections refused"

    case appleCut = "App Store connections cut"
    case appleStall = "App Store connections stalled"
    case appleHalfOpen = "App Store connections half open"
    case appleRefused = "App Store connections refused"
    /// Apple answers every call with 503.
    case appleOutage = "App Store out"
    /// Half of Apple's answers are errors of every kind.
    case appleBrownout = "App Store browned out"

    case inventoryCut = "inventory service's connections cut"
    case inventoryStall = "inventory service's connections stalled"
    case inventoryHalfOpen = "inventory service's connections half open"
    case inventoryRefused = "inventory service's connections refused"
    /// The inventory service answers every call with 503.
    case inventoryOutage = "inventory service out"
    /// Half of the inventory service's answers are wrong in every way, most of them after it did its work.
    case inventoryBrownout = "inventory service browned out"

    /// The broker's port is closed; its data and groups stay.
    case brokerDown = "broker down"
    /// Every answer of the broker is late.
    case brokerSlow = "broker slow"
    /// The broker closes connections in the middle of requests to produce and to fetch.
    case brokerDisconnects = "broker disconnects"
    /// The broker refuses to commit offsets: it is not the group's coordinator.
    case brokerRefusesCommits = "broker refuses commits"

    static func < (left: FaultKind, right: FaultKind) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Where it may strike.
    func places(workers: Int) -> [FaultPlace] {
        switch self {
        case .kill, .restart, .freeze, .pause, .remove: (0..<workers).map(FaultPlace.worker)
        case .add: [.extraWorker]
        case .databaseRestart, .databaseCrash: [.database]
        case .databaseCut, .databaseStall, .databaseHalfOpen, .databaseRefused:
            (0..<workers).map(FaultPlace.databasePath) + [.everyDatabasePath]
        case .appleCut, .appleStall, .appleHalfOpen, .appleRefused, .appleOutage, .appleBrownout: [.apple]
        case .inventoryCut, .inventoryStall, .inventoryHalfOpen, .inventoryRefused, .inventoryOutage,
            .inventoryBrownout:
            [.inventory]
        case .brokerDown, .brokerSlow, .brokerDisconnects, .brokerRefusesCommits: [.broker]
        }
    }

    /// How long it lasts, in milliseconds. The group's session is ``ChaosStage/sessionMilliseconds``.
    var milliseconds: ClosedRange<Int> {
        switch self {
        case .kill: 0...3000
        case .restart: 0...2000
        case .freeze: 9000...14000
        case .pause: 500...3000
        case .remove: 8000...15000
        case .add: 8000...20000
        case .databaseRestart, .databaseCrash: 0...3000
        case .databaseCut, .appleCut, .inventoryCut: 0...0
        case .databaseStall, .appleStall, .inventoryStall: 1000...10000
        case .databaseHalfOpen, .appleHalfOpen, .inventoryHalfOpen: 3000...12000
        case .databaseRefused, .appleRefused, .inventoryRefused: 1000...8000
        case .appleOutage, .appleBrownout, .inventoryOutage, .inventoryBrownout: 3000...10000
        case .brokerDown: 1000...8000
        case .brokerSlow: 3000...8000
        case .brokerDisconnects, .brokerRefusesCommits: 0...0
        }
    }
}

/// Where a fault strikes.
enum FaultPlace: Hashable, Sendable, CustomStringConvertible {
    /// A worker's process, counted from 0.
    case worker(Int)
    /// The place for one worker more.
    case extraWorker
    case database
    /// Between one worker and PostgreSQL.
    case databasePath(Int)
    /// Between all workers and PostgreSQL.
    case everyDatabasePath
    /// The App Store, and what is between it and all workers.
    case apple
    /// The inventory service, and what is between it and all workers.
    case inventory
    case broker

    var description: String {
        switch self {
        case .worker(let number): "worker \(number + 1)"
        case .extraWorker: "one more worker"
        case .database: "PostgreSQL"
        case .databasePath(let number): "worker \(number + 1) to PostgreSQL"
        case .everyDatabasePath: "all workers to PostgreSQL"
        case .apple: "App Store"
        case .inventory: "inventory service"
        case .broker: "broker"
        }
    }

    /// Whether faults at both places at once would hide one another, or undo one another's end.
    func excludes(_ other: FaultPlace) -> Bool {
        switch (self, other) {
        case (.database, .databasePath), (.databasePath, .database), (.database, .everyDatabasePath),
            (.everyDatabasePath, .database), (.everyDatabasePath, .databasePath), (.databasePath, .everyDatabasePath):
            true
        default: self == other
        }
    }
}
