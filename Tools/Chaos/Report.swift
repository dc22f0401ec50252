import Contract
import KafkaTesting
import Scheduling

/// Faults of a run, each said once it is found.
struct Report {
    private(set) var faults = 0

    mutating func fault(_ text: String) {
        faults += 1
        say("FAULT \(text)")
    }

    mutating func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) {
        if !isTrue { fault(text()) }
    }

    /// Ends workers in order: each ends with 0 within the time that a stop has.
    mutating func stop(_ workers: [ChildWorker], within limit: Duration = .seconds(20)) {
        let start = Instant.now
        for worker in workers { worker.signal(15) }
        for worker in workers {
            guard let code = worker.ended(within: limit - (Instant.now - start)) else {
                fault("a worker still runs \(limit) after SIGTERM")
                worker.end(by: 9)
                continue
            }
            expect(code == 0, "a worker ended with \(code) after SIGTERM")
        }
    }

    mutating func add(_ verdict: TopicJudge.Verdict) {
        for text in verdict.faults { say("FAULT \(text)") }
        faults += verdict.found
        say("\(verdict.events) granted events, \(verdict.copies) of them copies; \(verdict.failures) failed ones")
    }

    func end(_ world: World) -> Bool {
        world.kafka.stop()
        say("\(faults) faults")
        return faults == 0
    }
}
