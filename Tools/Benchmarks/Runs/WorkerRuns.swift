/// The price of a submission, and what else the system pays for it.
struct WorkerRun {
    let load: Throughput
    /// Microseconds beyond the limit that a worker may take for a submission.
    static let wanted: [EvidenceKind: Double] = [.signed: 45, .receipt: 55]

    func figures() throws -> [Figure] {
        let sample = try load.measure()
        let limitName = load.evidence == .signed ? "OpenSSL, a verification" : "libcurl alone, a call"
        return [
            Figure("granted", sample.rate, "/s"),
            Figure("worker", sample.each(.worker), "us each"),
            Figure(limitName, sample.limit, "us each"),
            Figure(
                "worker, beyond that", sample.each(.worker) - sample.limit, "us each",
                wanted: Self.wanted[load.evidence].map { .atMost($0) }),
            Figure("worker, times that", sample.each(.worker) / sample.limit, ""),
            Figure("PostgreSQL", sample.each(.postgres), "us each"),
            Figure("broker", sample.each(.broker), "us each"),
            // At high rates it may be what bounds them.
            Figure("Apple's stand-in", sample.each(.apple), "us each"),
            Figure("machine, others", sample.times.othersShare * 100, "%", wanted: .atMost(8)),
            Figure("most memory", sample.memory, "MB", wanted: .atMost(150)),
        ]
    }
}

/// Memory with many calls to Apple under way.
struct MemoryRun {
    let load: Throughput
    /// Most memory for so many calls, in MB.
    static let limits = [(calls: 1000, memory: 150.0), (calls: 4000, memory: 300.0)]

    func figures() throws -> [Figure] {
        try Self.limits.flatMap { calls, memory in
            var load = load
            load.calls = calls
            let sample = try load.measure(limit: false)
            return [
                Figure("\(calls) calls, most memory", sample.memory, "MB", wanted: .atMost(memory)),
                Figure("\(calls) calls, open files", Double(sample.descriptors), "", wanted: .atLeast(Double(calls))),
                Figure("\(calls) calls, granted", sample.rate, "/s"),
            ]
        }
    }
}

/// The rate of several workers on one ledger, beside that of one.
struct ScaleRun {
    /// With the submissions of one worker.
    let load: Throughput
    /// Workers, and how many times the rate of one they are wanted to have.
    static let steps = [(workers: 1, times: 1.0), (workers: 2, times: 1.95), (workers: 4, times: 3.8)]

    func figures() throws -> [Figure] {
        var figures: [Figure] = []
        var one = 0.0
        for (workers, times) in Self.steps {
            var load = load
            load.workers = workers
            load.submissions *= workers
            let sample = try load.measure(limit: false)
            let name = workers == 1 ? "1 worker" : "\(workers) workers"
            figures.append(Figure("\(name), granted", sample.rate, "/s"))
            if workers == 1 {
                one = sample.rate
            } else {
                figures.append(Figure("\(name), times one", sample.rate / one, "", wanted: .atLeast(times)))
            }
            figures.append(Figure("\(name), PostgreSQL", sample.each(.postgres), "us each"))
        }
        return figures
    }
}
