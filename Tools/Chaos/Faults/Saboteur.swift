import AppStoreSimulator
import Contract
import KafkaTesting
import PostgresTesting

/// Carries out the schedule's faults, and undoes them. It decides nothing.
struct Saboteur: Sendable {
    /// Milliseconds that Apple takes for an answer as a rule, and while it is slow.
    static let (latency, slow) = (50, 4000)
    /// More than there are.
    private static let tooManyReplicas = "4"

    let kafka: TestKafka
    let database: PostgresServer
    let standby: PostgresServer
    let proxies: [PostgresProxy]
    let disks: [SmallDisk]
    let apple: AppleStandIn
    let fleet: Fleet

    init(_ world: World, _ fleet: Fleet) throws(ChaosFailure) {
        guard let database = world.database, let standby = world.standby else {
            throw ChaosFailure("faults of a database need --ledger postgres")
        }
        (self.database, self.standby, self.fleet) = (database, standby, fleet)
        (kafka, proxies, disks, apple) = (world.kafka, world.proxies, world.disks, world.appleStandIn)
    }

    func begin(_ fault: Fault) throws {
        let place = fault.place
        switch fault.kind {
        case .workerKilled: fleet.kill(place)
        case .workerRestarted: fleet.stop(place)
        case .workerFrozen, .workerFrozenPastItsSession: fleet.freeze(place)
        case .brokerKilled: kafka.kill(broker: place)
        case .brokerRestarted: kafka.stop(broker: place)
        case .brokerFrozen: kafka.pause(broker: place)
        case .leadersElected: try kafka.electPreferredLeaders()
        case .eventsNotReplicated: try setGranted(["min.insync.replicas": Self.tooManyReplicas])
        case .eventsRefused: try setGranted(["max.message.bytes": "200"])
        case .brokerDiskFull: disks[place + 1].fill()
        case .databaseKilled: try database.kill()
        case .databaseCrashed: try database.crash()
        case .databaseRestarted: try database.restart()
        case .databaseFrozen: try database.freeze()
        case .databaseDiskFull: disks[0].fill()
        case .sessionsEnded:
            try database.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'grantor'")
        case .statementsCut: proxies[place].cut(after: fault.roundTrip, .beforeStatements)
        case .answerCut: proxies[place].cut(after: fault.roundTrip, .afterStatements)
        case .standbyFrozen: try standby.freeze()
        case .standbyKilled: try standby.kill()
        case .appleUnavailable: apple.simulator.behave(Behaviour(outage: .unavailable))
        case .appleSilent: try apple.takeAway(.silent)
        case .appleSlow: apple.simulator.behave(Behaviour(latency: .fixed(milliseconds: Self.slow)))
        case .appleAway: try apple.takeAway(.refused)
        }
    }

    func end(_ fault: Fault) throws {
        let place = fault.place
        switch fault.kind {
        case .workerKilled, .workerRestarted: try fleet.start(place)
        case .workerFrozen, .workerFrozenPastItsSession: fleet.thaw(place)
        case .brokerKilled, .brokerRestarted: try kafka.start(broker: place)
        case .brokerFrozen: kafka.resume(broker: place)
        case .eventsNotReplicated, .eventsRefused: try setGranted([:])
        case .brokerDiskFull:
            disks[place + 1].free()
            // A broker whose only disk failed ends by itself, sooner or later.
            kafka.kill(broker: place)
            try kafka.start(broker: place)
        case .databaseKilled, .databaseCrashed: try database.start()
        case .databaseFrozen: try database.thaw()
        case .databaseDiskFull:
            disks[0].free()
            try database.start()
        case .standbyFrozen: try standby.thaw()
        case .standbyKilled: try standby.start()
        case .appleUnavailable, .appleSlow:
            apple.simulator.behave(Behaviour(latency: .fixed(milliseconds: Self.latency)))
        case .appleSilent, .appleAway: try apple.bringBack(milliseconds: Self.latency)
        case .leadersElected, .databaseRestarted, .sessionsEnded, .statementsCut, .answerCut: break
        }
    }

    /// Nothing is to be cut any more.
    func disarm() {
        for proxy in proxies { proxy.disarm() }
    }

    private func setGranted(_ properties: [String: String]) throws {
        try kafka.setTopicProperties(
            Topic.granted.defaultName, World.properties(of: .granted).merging(properties) { $1 })
    }
}
