import Scheduling

/// An audit of many purchases on PostgreSQL, while grants are written at a steady pace.
struct AuditRun {
    /// Ten million purchases within five minutes.
    private static let wantedRate = 10_000_000.0 / 300

    let programs: Programs
    let purchases: Int

    func figures() throws -> [Figure] {
        let stage = try Stage(programs, ledger: .postgres, latency: 0, calls: 1)
        let filling = try FilledLedger(stage)
        try filling.fill(purchases)
        let before = try filling.write(for: .seconds(20)).rate
        let start = Instant.now
        let audit = try stage.start(["audit", "--json"])
        var memory = 0.0
        let meanwhile = try filling.write {
            memory = max(memory, audit.peakMemory)
            return audit.descriptors == 0
        }.rate
        let seconds = (Instant.now - start) / .seconds(1)
        try audit.finish()
        try stage.end()
        return [
            Figure("purchases", Double(purchases), ""),
            Figure("audit", seconds, "s"),
            Figure("purchases a second", Double(purchases) / seconds, "1/s", wanted: .atLeast(Self.wantedRate)),
            Figure("memory", memory, "MB", wanted: .atMost(512)),
            Figure("writes before", before, "1/s"),
            Figure("writes meanwhile", meanwhile, "1/s"),
            Figure("meanwhile, times before", meanwhile / before, "", wanted: .atLeast(0.95)),
        ]
    }
}
