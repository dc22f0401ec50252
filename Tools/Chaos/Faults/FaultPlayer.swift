import Scheduling
import Synchronization
import Threading

/// Plays a schedule: a thread for each part, whose faults come one after the other.
final class FaultPlayer: Sendable {
    /// Time that a part has to itself after a fault, also if the schedule is late.
    private static let pause = Duration.seconds(1)

    private struct Played {
        var counts: [FaultKind: Int] = [:]
        var failures: [String] = []
    }

    private let played = Mutex(Played())
    private let threads = Mutex<[OwnerThread]>([])

    /// Starts at once; no fault begins after `seconds`.
    init(_ schedule: Schedule, _ saboteur: Saboteur, seconds: Int) throws {
        let start = Instant.now
        for (part, faults) in schedule.faults {
            let thread = try OwnerThread(name: part.rawValue) { [self] in
                for fault in faults {
                    rest(until: start + .milliseconds(fault.start))
                    guard Instant.now < start + .seconds(seconds) else { return }
                    guard play(fault, saboteur, start) else { return }
                    rest(until: .now + Self.pause)
                }
            }
            threads.withLock { $0.append(thread) }
        }
    }

    /// Waits until the last fault is over.
    /// - Returns: How often each kind came.
    /// - Throws: If a fault could not be made or undone.
    func join() throws(ChaosFailure) -> [FaultKind: Int] {
        for thread in threads.withLock({ $0 }) { thread.join() }
        let played = played.withLock { $0 }
        guard let failure = played.failures.first else { return played.counts }
        throw ChaosFailure(failure)
    }

    /// One fault from its begin to its end.
    /// - Returns: Whether the part can go on.
    private func play(_ fault: Fault, _ saboteur: Saboteur, _ start: Instant) -> Bool {
        let begun = Instant.now
        do {
            try saboteur.begin(fault)
            rest(milliseconds: fault.duration)
            let lasted = Instant.now - begun
            try saboteur.end(fault)
            let undone = Instant.now - begun - lasted
            let lines = ["after", Self.seconds(begun - start), padded(fault.text, 50), Self.seconds(lasted)]
            let note = undone > .milliseconds(500) ? ", back after \(Self.seconds(undone))" : ""
            say(lines.joined(separator: "  ") + note)
            played.withLock { $0.counts[fault.kind, default: 0] += 1 }
            return true
        } catch {
            played.withLock { $0.failures.append("\(fault.text): \(error)") }
            return false
        }
    }

    private static func seconds(_ duration: Duration) -> String {
        let tenths = Int(duration / .milliseconds(100))
        let text = "\(tenths / 10).\(tenths % 10) s"
        return String(repeating: " ", count: max(0, 8 - text.count)) + text
    }
}
