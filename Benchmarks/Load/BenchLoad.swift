import Kafka

/// Submissions without end, as fast as they are answered.
struct BenchLoad {
    private static let batch = 250

    let clients: BenchClients
    let source: SubmissionSource
    /// Submissions handed to the broker and not answered yet, at most.
    let maxAhead: Int
    private(set) var produced = 0
    private(set) var answered = 0

    init(clients: BenchClients, source: SubmissionSource, maxAhead: Int) {
        self.clients = clients
        self.source = source
        self.maxAhead = maxAhead
    }

    /// Submits what there is room for, and takes the next events.
    mutating func step() async throws {
        while produced + Self.batch <= answered + maxAhead {
            let next = produced..<produced + Self.batch
            try await clients.send(try source.records(next))
            produced = next.upperBound
        }
        answered += try await clients.events().count
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
