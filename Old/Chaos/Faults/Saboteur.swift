import Foundation
import PostgresTesting
import Synchronization
import SystemTesting

/// Does what the schedule says, and undoes it. It decides nothing.
struct Saboteur: Sendable {
    let stage: ChaosStage
    /// The extra worker's place.
    let extraPlace: Int

    /// Plays a schedule to its end. Steps that take long, as waiting for a worker to stop does, hold up later ones at the
    /// same place only.
    func play(
        _ schedule: Schedule, began: @escaping @Sendable (ScheduledFault) -> Void,
        ended: @escaping @Sendable (ScheduledFault) -> Void
    ) async throws {
        let start = ContinuousClock.now
        let over = Over()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, fault) in schedule.faults.enumerated() {
                let before = schedule.faults.prefix(number).indices.filter {
                    schedule.faults[$0].place.excludes(fault.place)
                }
                group.addTask {
                    try await Task.sleep(until: start + .milliseconds(fault.start), clock: .continuous)
                    try await over.wait(for: before)
                    let begun = ContinuousClock.now
                    began(fault)
                    try await begin(fault)
                    try await Task.sleep(until: begun + .milliseconds(fault.duration), clock: .continuous)
                    try await end(fault)
                    ended(fault)
                    over.insert(number)
                }
            }
            // The first error ends them all.
            for try await _ in group {}
        }
    }

    /// The numbers of the faults that are over.
    private final class Over: Sendable {
        private let numbers = Mutex<Set<Int>>([])

        func insert(_ number: Int) {
            _ = numbers.withLock { $0.insert(number) }
        }

        func wait(for before: [Int]) async throws {
            while !numbers.withLock({ $0.isSuperset(of: before) }) {
                // Rare: what was done at the place takes longer than the schedule's rest.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private func begin(_ fault: ScheduledFault) async throws {
        switch (fault.kind, fault.place) {
        case (.kill, .worker(let place)): await stage.fleet.kill(place)
        case (.restart, .worker(let place)), (.remove, .worker(let place)): try await stage.fleet.stop(place)
        case (.freeze, .worker(let place)), (.pause, .worker(let place)): await stage.fleet.freeze(place)
        case (.add, _): try await stage.fleet.start(extraPlace)
        case (.databaseRestart, _): try await stage.database.server.stop()
        case (.databaseCrash, _): try await stage.database.server.stop(crashing: true)
        case (.databaseCut, _): for proxy in stage.database.proxies(at: fault.place) { try await proxy.cut() }
        case (.databaseStall, _): try await set(.stalled, fault.place)
        case (.databaseHalfOpen, _): try await set(.swallowing, fault.place)
        case (.databaseRefused, _): try await set(.refusing, fault.place)
        case (.appleCut, _): try await stage.apple.cut()
        case (.appleStall, _): try await stage.apple.set(.stalled)
        case (.appleHalfOpen, _): try await stage.apple.set(.swallowing)
        case (.appleRefused, _): try await stage.apple.set(.refusing)
        case (.appleOutage, _): stage.apple.goOut()
        case (.appleBrownout, _): stage.apple.brownOut()
        case (.inventoryCut, _): try await stage.inventory.proxy.cut()
        case (.inventoryStall, _): try await stage.inventory.proxy.set(.stalled)
        case (.inventoryHalfOpen, _): try await stage.inventory.proxy.set(.swallowing)
        case (.inventoryRefused, _): try await stage.inventory.proxy.set(.refusing)
        case (.inventoryOutage, _): stage.inventory.set(.out)
        case (.inventoryBrownout, _): stage.inventory.set(.brownedOut)
        case (.brokerDown, _): try await stage.broker.goDown()
        case (.brokerSlow, _): try await stage.broker.delay(milliseconds: Self.slowMilliseconds)
        case (.brokerDisconnects, _): try await stage.broker.disconnect()
        case (.brokerRefusesCommits, _): try await stage.broker.refuseCommits()
        case (.kill, _), (.restart, _), (.remove, _), (.freeze, _), (.pause, _): break
        }
    }

    private func end(_ fault: ScheduledFault) async throws {
        switch (fault.kind, fault.place) {
        case (.kill, .worker(let place)), (.restart, .worker(let place)), (.remove, .worker(let place)):
            try await stage.fleet.start(place)
        case (.freeze, .worker(let place)), (.pause, .worker(let place)): await stage.fleet.thaw(place)
        case (.add, _): try await stage.fleet.stop(extraPlace)
        case (.databaseRestart, _), (.databaseCrash, _): try await stage.database.server.resume()
        case (.databaseStall, _), (.databaseHalfOpen, _), (.databaseRefused, _):
            try await set(.passing, fault.place)
        case (.appleStall, _), (.appleHalfOpen, _), (.appleRefused, _): try await stage.apple.set(.passing)
        case (.appleOutage, _), (.appleBrownout, _): stage.apple.behave()
        case (.inventoryStall, _), (.inventoryHalfOpen, _), (.inventoryRefused, _):
            try await stage.inventory.proxy.set(.passing)
        case (.inventoryOutage, _), (.inventoryBrownout, _): stage.inventory.set(.well)
        case (.brokerDown, _): try await stage.broker.comeUp()
        case (.brokerSlow, _): try await stage.broker.delay(milliseconds: 0)
        case (.databaseCut, _), (.appleCut, _), (.inventoryCut, _), (.brokerDisconnects, _),
            (.brokerRefusesCommits, _), (.kill, _), (.restart, _), (.remove, _), (.freeze, _), (.pause, _):
            break
        }
    }

    private func set(_ mode: FaultProxy.Mode, _ place: FaultPlace) async throws {
        for proxy in stage.database.proxies(at: place) { try await proxy.set(mode) }
    }

    /// How late a slow broker answers.
    private static let slowMilliseconds = 200
}
