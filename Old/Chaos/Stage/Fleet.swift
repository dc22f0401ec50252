import Foundation
import Glibc
import SystemTesting

/// The workers' processes, each in a place of its own. It keeps them running, as a supervisor of a cluster would: who ends
/// by itself is started again.
actor Fleet {
    /// How long a worker may take to stop after SIGTERM: its own limit and a few seconds.
    static let stopLimit = Duration.seconds(25)
    /// What workers are told about it.
    static let shutdownTimeout = "15s"
    /// How often processes are looked at.
    private static let pulse = Duration.milliseconds(100)
    /// Before a worker that ended by itself is started again.
    private static let restartDelay = Duration.milliseconds(500)

    private struct Place {
        var process: ChildProcess?
        /// Whether somebody should be there.
        var wanted = false
        var starts = 0
        /// Whether the process that runs was told to end, or was ended.
        var endAsked = false
        var restartAt: ContinuousClock.Instant?
    }

    private let program: URL
    private let folder: URL
    private let environment: @Sendable (_ place: Int) -> [String: String]
    private var places: [Place]
    private(set) var exits: [String: Int] = [:]
    private(set) var starts = 0
    private(set) var violations: [Violation] = []

    /// - Parameter environment: all of it, for the worker in a place.
    init(
        _ program: URL, places: Int, in folder: URL, environment: @escaping @Sendable (_ place: Int) -> [String: String]
    ) {
        self.program = program
        self.folder = folder
        self.environment = environment
        self.places = Array(repeating: Place(), count: places)
    }

    /// Starts a worker unless one is there.
    func start(_ place: Int) throws {
        places[place].wanted = true
        guard places[place].process == nil else { return }
        places[place].starts += 1
        starts += 1
        places[place].endAsked = false
        places[place].process = try ChildProcess(
            program, ["run"], environment: environment(place), in: folder,
            name: "worker-\(place + 1)-\(places[place].starts)")
    }

    /// Ends a worker where it stands. Nobody comes in its place until `start`.
    func kill(_ place: Int) {
        places[place].wanted = false
        places[place].endAsked = true
        places[place].process?.kill(SIGKILL)
    }

    /// Asks a worker to stop, and waits for the end. Nobody comes in its place until `start`.
    func stop(_ place: Int) async throws {
        places[place].wanted = false
        guard let process = places[place].process else { return }
        places[place].endAsked = true
        process.kill(SIGTERM)
        do {
            try await eventually("\(process.name) stops", within: Self.stopLimit) { process.ended }
        } catch is DeadlineMissed {
            violations.append(
                Violation(rule: .stopped, detail: "\(process.name) still ran \(Self.stopLimit) after SIGTERM"))
            process.kill(SIGKILL)
        }
        try await eventually("\(process.name) is buried", within: .seconds(10)) {
            places[place].process === process ? nil : true
        }
    }

    /// Keeps a worker from running; it notices nothing.
    func freeze(_ place: Int) {
        places[place].process?.kill(SIGSTOP)
    }

    func thaw(_ place: Int) {
        places[place].process?.kill(SIGCONT)
    }

    /// Ends all of them for good.
    func killAll() {
        for place in places.indices { kill(place) }
    }

    /// How many run.
    var running: Int { places.count { $0.process != nil } }

    /// Looks after the processes until the task is cancelled.
    func watch() async {
        while !Task.isCancelled {
            for index in places.indices { look(index) }
            try? await Task.sleep(for: Self.pulse)
        }
    }

    private func look(_ index: Int) {
        if let process = places[index].process, let exit = process.ended {
            places[index].process = nil
            count(exit, of: process, asked: places[index].endAsked)
            if places[index].wanted { places[index].restartAt = .now + Self.restartDelay }
        }
        if let moment = places[index].restartAt, places[index].process == nil, .now >= moment {
            places[index].restartAt = nil
            guard places[index].wanted else { return }
            do {
                try start(index)
            } catch {
                // Tried again at the next look.
                places[index].restartAt = .now + Self.restartDelay
            }
        }
    }

    private func count(_ exit: ChildProcess.Exit, of process: ChildProcess, asked: Bool) {
        let whose = asked ? "asked for" : "by itself"
        switch exit {
        case .code(let code):
            exits["code \(code), \(whose)", default: 0] += 1
            if asked, code != 0 {
                violations.append(Violation(rule: .stopped, detail: "\(process.name) ended with code \(code)"))
            }
        case .signal(let signal):
            exits["signal \(signal), \(whose)", default: 0] += 1
            if !asked {
                let detail = "\(process.name) was ended by signal \(signal), which nobody sent"
                violations.append(Violation(rule: .stopped, detail: detail))
            }
        }
    }
}
