import Glibc
import Scheduling
import Synchronization

/// The workers of a run, each with a number under which it is killed, frozen and started again.
final class Fleet: Sendable {
    private static let stopLimit = Duration.seconds(20)

    private struct State {
        var workers: [Int: ChildWorker] = [:]
        var faults: [String] = []
    }

    private let program: String
    private let folder: String
    private let environments: [[String: String]]
    private let state = Mutex(State())

    /// Starts a worker in each place.
    init(_ world: World, workers: Int) throws {
        program = world.options.program
        folder = world.folder
        environments = (0..<workers).map(world.environment)
        for place in 0..<workers { try start(place) }
    }

    /// Puts a new worker into an empty place.
    func start(_ place: Int) throws {
        let worker = try ChildWorker(
            program: program, environment: environments[place], log: "\(folder)/worker-\(place).log")
        state.withLock { $0.workers[place] = worker }
    }

    func kill(_ place: Int) {
        guard let worker = take(place) else { return }
        worker.end(by: SIGKILL)
    }

    /// Ends a worker in order (SIGTERM).
    func stop(_ place: Int) {
        guard let worker = take(place) else { return }
        worker.signal(SIGTERM)
        switch worker.ended(within: Self.stopLimit) {
        case 0?: break
        case let code?: fault("worker \(place) ended with \(code) after SIGTERM")
        case nil:
            fault("worker \(place) still runs \(Self.stopLimit) after SIGTERM")
            worker.end(by: SIGKILL)
        }
    }

    func freeze(_ place: Int) { state.withLock { $0.workers[place] }?.signal(SIGSTOP) }

    func thaw(_ place: Int) { state.withLock { $0.workers[place] }?.signal(SIGCONT) }

    /// The workers that are in their places now.
    var workers: [ChildWorker] {
        state.withLock { state in state.workers.keys.sorted().compactMap { state.workers[$0] } }
    }

    /// Promises that workers have broken.
    var faults: [String] { state.withLock { $0.faults } }

    /// Empties a place whose worker still runs.
    private func take(_ place: Int) -> ChildWorker? {
        guard let worker = state.withLock({ $0.workers.removeValue(forKey: place) }) else { return nil }
        guard let code = worker.ended() else { return worker }
        fault("worker \(place) ended by itself: \(code)")
        return nil
    }

    private func fault(_ text: String) { state.withLock { $0.faults.append(text) } }
}
