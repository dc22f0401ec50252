import Contract
import Glibc
import KafkaTesting
import Scheduling

/// The ledger is emptied, set back, and its topic made anew.
struct ForgottenRun: Run {
    let options: Options

    func run() throws -> Bool {
        let world = try World(options)
        let traffic = try Traffic(world)
        var report = Report()
        try grant(world, traffic, "before")
        try copy(world.ledger, world.ledger + ".first")
        try setBackWhileStopped(world, traffic, to: ".copy", "set back while stopped", &report)
        try setBackWhileRunning(world, traffic, to: ".copy", "set back while running", &report)
        // Back to a copy that lacks nearly everything.
        try setBackWhileStopped(world, traffic, to: ".first", "set back far while stopped", &report)
        try setBackWhileRunning(world, traffic, to: ".first", "set back far while running", &report)
        if TestKafka.isApache { try makeTopicAnew(world, traffic, &report) }
        var judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        judge.mayBeWrittenAnew = true
        report.add(try judge.judge(ledger: world.ledger))
        try empty(world, traffic, &report)
        return report.end(world)
    }

    /// Sends submissions and lets a worker grant all there are.
    private func grant(_ world: World, _ traffic: Traffic, _ name: String) throws {
        let worker = try world.start()
        try send(traffic, name)
        try wait(world, traffic, name)
        if worker.end(by: SIGTERM) != 0 { throw ChaosFailure("the worker does not end in order") }
    }

    private func send(_ traffic: Traffic, _ name: String) throws {
        // Ids of submissions have no spaces.
        let prefix = name.split(separator: " ").joined(separator: "-")
        for number in 0..<(options.submissions / 10) { try traffic.signed("\(prefix)-\(number)", app: number) }
        try traffic.flush()
    }

    private func wait(_ world: World, _ traffic: Traffic, _ name: String) throws {
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        let count = try judge.wait(.seconds(90))
        say("\(name): \(count) of \(traffic.expected.count) granted")
        // A checkpoint is written once a second.
        rest(milliseconds: 2500)
    }

    private func copy(_ from: String, _ to: String) throws(ChaosFailure) {
        guard let source = fopen(from, "r"), let target = fopen(to, "w") else {
            throw ChaosFailure("cannot copy \(from)")
        }
        defer {
            fclose(source)
            fclose(target)
        }
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&part, 1, part.count, source)
            guard count > 0 else { return }
            fwrite(part, 1, count, target)
        }
    }

    /// A copy of before is put in the ledger's place, as a restore from a backup does it.
    private func putBack(_ world: World, _ name: String) throws(ChaosFailure) {
        try copy(world.ledger + name, world.ledger + ".restored")
        unlink(world.ledger + "-wal")
        unlink(world.ledger + "-shm")
        guard rename(world.ledger + ".restored", world.ledger) == 0 else { throw ChaosFailure("cannot set it back") }
    }

    private func setBackWhileStopped(
        _ world: World, _ traffic: Traffic, to copied: String, _ name: String, _ report: inout Report
    ) throws {
        try copy(world.ledger, world.ledger + ".copy")
        try grant(world, traffic, "before it is " + name)
        try putBack(world, copied)
        try grant(world, traffic, name)
        judgeRows(world, traffic, name, &report)
    }

    private func setBackWhileRunning(
        _ world: World, _ traffic: Traffic, to copied: String, _ name: String, _ report: inout Report
    ) throws {
        try copy(world.ledger, world.ledger + ".copy")
        let worker = try world.start()
        try send(traffic, "before it is " + name)
        try wait(world, traffic, "before it is " + name)
        try putBack(world, copied)
        try send(traffic, name)
        try wait(world, traffic, name)
        // Records whose grants the copy lacks are read again, and told again under the same ids.
        waitForRows(world, traffic)
        report.stop([worker])
        judgeRows(world, traffic, name, &report)
    }

    private func waitForRows(_ world: World, _ traffic: Traffic) {
        look(every: 1000, for: .seconds(90)) { LedgerTables(world.ledger).count("grants") >= traffic.expected.count }
    }

    private func judgeRows(_ world: World, _ traffic: Traffic, _ name: String, _ report: inout Report) {
        let rows = LedgerTables(world.ledger).count("grants")
        report.expect(
            rows == traffic.expected.count, "\(name): \(rows) rows in grants for \(traffic.expected.count) purchases")
    }

    private func makeTopicAnew(_ world: World, _ traffic: Traffic, _ report: inout Report) throws {
        let submitted = Topic.submitted.defaultName
        try world.kafka.deleteTopic(submitted)
        rest(milliseconds: 2000)
        try world.kafka.createTopic(submitted, partitions: World.partitions)
        // More than before, so that every stored offset lies inside of it.
        let more = traffic.expected.count + options.submissions / 10
        for number in 0..<more { try traffic.signed("anew-\(number)", app: number) }
        try traffic.flush()
        let worker = try world.start()
        try wait(world, traffic, "topic made anew")
        report.stop([worker])
    }

    /// The worker must refuse a ledger that knows nothing of its group, and say how to accept it.
    private func empty(_ world: World, _ traffic: Traffic, _ report: inout Report) throws {
        for ending in ["", "-wal", "-shm"] { unlink(world.ledger + ending) }
        let refused = try world.start(9)
        let code = refused.ended(within: .seconds(60))
        report.expect(code == 78, "beside an empty ledger a worker ended with \(code.map(String.init) ?? "nothing")")
        if code == nil { refused.end(by: SIGKILL) }
        let log = world.log(9)
        guard let place = log.range("grantor ledger accept ") else {
            return report.fault("the worker does not say how a ledger is accepted")
        }
        let id = String(log[place...].prefix { $0.isLetter || $0.isNumber || $0 == "-" })
        let words = ["ledger", "accept", "--actor", "chaos", "--reason", "emptied on purpose", id]
        let accepted = try world.command(words)
        report.expect(accepted == 0, "accepting \(id) ended with \(accepted.map(String.init) ?? "a signal")")
        let before = traffic.expected.count
        try grant(world, traffic, "after it was accepted")
        let rows = LedgerTables(world.ledger).count("grants")
        report.expect(
            rows >= traffic.expected.count - before, "\(rows) rows in an accepted ledger after new submissions")
    }
}

extension String {
    /// The place behind the first occurrence of a text.
    fileprivate func range(_ text: String) -> String.Index? {
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(text) { return rest.index(rest.startIndex, offsetBy: text.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}
