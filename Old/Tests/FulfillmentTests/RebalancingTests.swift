import AppStore
import Ledger
import Purchases
import Testing

@testable import Fulfillment

@Suite("Rebalances through the whole pipeline", .timeLimit(.minutes(5)))
struct RebalancingTests {
    /// A stop that is over only when everything has ended, so that a busy machine does not decide what is tested.
    private static var patient: PipelineConfiguration {
        PipelineConfiguration(maxInFlight: 16, stopLimit: .seconds(1_000_000))
    }

    @Test("A partition is given up at once while the ledger is away")
    func ledgerAway() async throws {
        let bench = try await PipelineBench()
        bench.flaky.fail(before: .max, after: 0)
        bench.source.write([nil, PipelineBench.message("s", receipt: try bench.appStore.receipt().base64)])
        try await bench.run { bench in
            if bench.pipeline.status.partitions.isEmpty, bench.pipeline.status.heldSubmissions == 2 { return true }
            if bench.pipeline.status.heldSubmissions == 2 { bench.source.revoke() }
            return false
        }
        #expect(bench.source.committed == nil)
        #expect(bench.pipeline.status.partitions == [])
    }

    @Test("A partition is given up at once while the worker stops and Apple is silent")
    func stopping() async throws {
        let gate = Gate()
        let bench = try await PipelineBench(gate: gate, configuration: Self.patient)
        bench.source.write([nil, PipelineBench.message("slow", receipt: try bench.appStore.receipt().base64)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await bench.run { $0.pipeline.status.settledRecords == 1 && $0.appStore.calls == 1 }
            }
            group.addTask {
                // Whatever happens: a call that hangs cannot be cancelled.
                defer { gate.open() }
                while !bench.pipeline.status.isStopping { try await Task.sleep(for: .milliseconds(2)) }
                bench.source.revoke()
                while !bench.pipeline.status.partitions.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            }
            try await group.waitForAll()
        }
        #expect(bench.source.committed == 1)
    }

    @Test("Nothing is read any more once the worker stops, though the source is still served")
    func stoppedReading() async throws {
        let gate = Gate()
        let bench = try await PipelineBench(gate: gate, configuration: Self.patient)
        bench.source.write([PipelineBench.message("slow", receipt: try bench.appStore.receipt().base64)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bench.run { $0.appStore.calls == 1 } }
            group.addTask {
                // Whatever happens: a call that hangs cannot be cancelled.
                defer { gate.open() }
                while !bench.pipeline.status.isStopping { try await Task.sleep(for: .milliseconds(2)) }
                // The revocation is asked for after the record, so that its answer shows that the record was passed over.
                bench.source.write([nil])
                bench.source.revoke()
                while !bench.pipeline.status.partitions.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            }
            try await group.waitForAll()
        }
        #expect(bench.source.ahead == 1)
        #expect(try await bench.ledger.counts().quarantined == 0)
    }

    @Test("What Apple answers after a partition was taken away counts, and moves no offset of its new owner")
    func lateResults() async throws {
        let gate = Gate()
        let bench = try await GroupBench(pipelines: 2, partitions: 1, gate: gate)
        try bench.write(0..<8, partitions: 1)
        bench.group.move(0, to: 0)
        try await bench.run {
            defer { gate.open() }
            try await bench.until { bench.appStore.calls == 8 }
            bench.group.move(0, to: 1)
            // The second worker asks as well: it cannot know that the first one's calls will be answered.
            try await bench.until { bench.appStore.calls == 16 }
            #expect(bench.pipelines[0].status.partitions == [])
            #expect(bench.group.judgement.answers == 1, "the revocation does not wait for Apple")
            gate.open()
            try await bench.until { bench.group.committed == [8] }
        }
        #expect(bench.group.judgement.commitsPastFates == 0)
        #expect(try await bench.ledger.counts().grants == 8)
    }

    @Test("A worker that lost its partition and gets it back commits by what it has done since")
    func lostAndBack() async throws {
        let gate = Gate()
        let bench = try await GroupBench(pipelines: 2, partitions: 1, gate: gate)
        try bench.write(0..<8, partitions: 1)
        bench.group.move(0, to: 0)
        try await bench.run {
            defer { gate.open() }
            try await bench.until { bench.appStore.calls == 8 }
            bench.group.move(0, to: 1, lost: true)
            try await bench.until { bench.appStore.calls == 16 }
            bench.group.move(0, to: 0, lost: true)
            try await bench.until { bench.appStore.calls == 24 }
            #expect(bench.group.committed == [0])
            gate.open()
            try await bench.until { bench.group.committed == [8] }
        }
        #expect(bench.group.judgement.commitsPastFates == 0)
        #expect(bench.group.judgement.commitsBackwards == 0)
        #expect(try await bench.ledger.counts().grants == 8)
    }

    @Test(
        "Partitions that move at random between three workers lose nothing and commit nothing past a fate",
        arguments: 0..<12)
    func randomMoves(seed: UInt64) async throws {
        let partitions = 4
        let count = 400
        let bench = try await GroupBench(pipelines: 3, partitions: partitions)
        try bench.write(0..<count, partitions: partitions) { number in
            number % 5 == 0 ? [.failed(.timedOut), .failed(.unreachable)] : []
        }
        if seed % 3 == 0 { bench.flaky.fail(before: 5, after: 5) }
        for partition in 0..<partitions { bench.group.move(partition, to: partition % 3) }
        try await bench.run {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<60 {
                bench.group.move(
                    Int.random(in: 0..<partitions, using: &generator), to: Int.random(in: 0..<3, using: &generator),
                    lost: Int.random(in: 0..<3, using: &generator) == 0)
                // A pace, not a wait: moves are to fall into the middle of work.
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...4, using: &generator)))
            }
            try await bench.until { bench.group.committed.reduce(0, +) == count }
            try await bench.until { try await bench.ledger.counts().unpublished == 0 }
        }
        let judgement = bench.group.judgement
        #expect(judgement.commitsPastFates == 0)
        #expect(judgement.commitsBackwards == 0)
        #expect(try await bench.ledger.counts().grants == count)
        #expect(Set(bench.sink.events.map(\.id)).count == count)
    }

    @Test("A topic that is deleted and made anew is read from its beginning, and its offsets are committed")
    func topicMadeAnew() async throws {
        let bench = try await PipelineBench()
        func messages(_ name: String, _ count: Int) throws -> [[UInt8]?] {
            try (0..<count).map {
                PipelineBench.message("\(name)-\($0)", receipt: try bench.appStore.receipt().base64)
            }
        }
        bench.source.write(try messages("old", 50))
        let anew = try messages("new", 20)
        try await bench.run { bench in
            guard bench.source.committed == 50 else { return false }
            bench.source.makeAnew(anew)
            while bench.source.committed != 20 { try await Task.sleep(for: .milliseconds(2)) }
            return true
        }
        #expect(try await bench.ledger.counts().grants == 70)
        #expect(bench.source.committed == 20)
    }

    @Test("A source without signs of life is told, and one that comes back too")
    func signsOfLife() async throws {
        let bench = try await PipelineBench()
        try await bench.run { bench in
            guard bench.pipeline.status.partitions.count == 1 else { return false }
            bench.source.hang()
            while bench.pipeline.status.sourceIsAlive { try await Task.sleep(for: .milliseconds(2)) }
            bench.source.recover()
            while !bench.pipeline.status.sourceIsAlive { try await Task.sleep(for: .milliseconds(2)) }
            return true
        }
    }
}
