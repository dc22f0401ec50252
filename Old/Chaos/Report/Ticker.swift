import Foundation
import Synchronization

/// Tells people every few seconds how a run goes on.
final class Ticker: Sendable {
    /// How often.
    static let pulse = Duration.seconds(5)

    private struct Faults {
        var begun = 0
        var present: [ScheduledFault] = []
    }

    private let start = ContinuousClock.now
    private let faults = Mutex(Faults())

    func began(_ fault: ScheduledFault) {
        faults.withLock {
            $0.begun += 1
            $0.present.append(fault)
        }
    }

    func ended(_ fault: ScheduledFault) {
        faults.withLock { faults in
            if let index = faults.present.firstIndex(of: fault) { faults.present.remove(at: index) }
        }
    }

    /// Prints a line at each pulse until the task is cancelled.
    func run(_ line: @escaping @Sendable () async -> String) async {
        while true {
            do {
                try await Task.sleep(for: Self.pulse)
            } catch {
                return
            }
            let (begun, present) = faults.withLock { ($0.begun, $0.present) }
            let now = present.map { "\($0.place): \($0.kind.rawValue)" }.joined(separator: ", ")
            let elapsed = Int((ContinuousClock.now - start) / .seconds(1))
            let clock = "\(elapsed / 60):\(String(elapsed % 60 + 100).dropFirst())".leftPadded(to: 6)
            say("\(clock)  \(await line()), \(begun) faults" + (now.isEmpty ? "" : "; now \(now)"))
        }
    }
}

/// Writes a line at once, whatever standard output is.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
