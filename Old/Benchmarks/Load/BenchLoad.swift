import Kafka

/// Submissions without end, as fast as they are answered.
struct BenchLoad {
    private static let batch = 250

    let clients: BenchClients
    let source: SubmissionSource
    /// Submissions handed to the broker and not answered yet, at most.
    let maxAhead: Int
    /// Throws what is wrong with the worker, if anything is.
    let check: () throws -> Void
    private(set) var produced = 0
    private(set) var answered = 0

    init(clients: BenchClients, source: SubmissionSource, maxAhead: Int, check: @escaping () throws -> Void) {
        self.clients = clients
        self.source = source
        self.maxAhead = maxAhead
        self.check = check
    }

    /// Submits what there is room for, and takes the next events.
    mutating func step() async throws {
        while produced + Self.batch <= answered + maxAhead {
            let next = produced..<produced + Self.batch
            try await clients.send(try source.records(next))
            produced = next.upperBound
        }
        do {
            answered += try await clients.events().count
        } catch {
            // A worker that is gone explains it better.
            try check()
            throw error
        }
    }

    /// Goes on until so many more are answered, or for so long.
    mutating func run(_ window: BenchCase.Window) async throws {
        let (start, before) = (ContinuousClock.now, answered)
        while true {
            switch window {
            case .submissions(let count): if answered - before >= count { return }
            case .seconds(let seconds): if start.duration(to: .now) >= .seconds(seconds) { return }
            }
            try await step()
        }
    }
}
