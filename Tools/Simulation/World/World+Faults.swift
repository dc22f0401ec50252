import Contract
import Ledger
import LedgerModel
import Processing
import Scheduling

/// A thing that goes wrong, or somebody's hand.
enum Fault {
    case start(Int)
    case kill(Int)
    case stop(Int)
    case freeze(Int, milliseconds: Int64)
    case rebalance
    case copyLedger
    case setLedgerBack
    case setOffsetsBack
    case makeTopicAnew
    case cutTopic
    case emptyLedger
    /// An operator takes the emptied ledger for what it is.
    case acceptLedger
    case abandon
    /// One worker gets another configuration.
    case deploy(Int)
    /// The end of all faults.
    case heal
}

extension World {
    /// Draws the faults of the run and their moments.
    func drawFaults() {
        let span = max(options.faultSpan, 1)
        func moment() -> Int64 { random(0...span - 1) }
        func place() -> Int { Int(random(0...Int64(lives.count - 1))) }
        for _ in 0..<options.kills { at(moment(), .fault(.kill(place()))) }
        for _ in 0..<options.stops { at(moment(), .fault(.stop(place()))) }
        for _ in 0..<options.freezes { at(moment(), .fault(.freeze(place(), milliseconds: random(100...60_000)))) }
        for _ in 0..<options.rebalances { at(moment(), .fault(.rebalance)) }
        for _ in 0..<options.deployments { at(moment(), .fault(.deploy(place()))) }
        for _ in 0..<options.abandons { at(moment(), .fault(.abandon)) }
        for _ in 0..<options.offsetsSetBack { at(moment(), .fault(.setOffsetsBack)) }
        for _ in 0..<options.setBacks {
            let copied = moment()
            at(copied, .fault(.copyLedger))
            at(copied + random(0...max(span - copied, 1)), .fault(.setLedgerBack))
        }
        for _ in 0..<options.topicsMadeAnew { at(moment(), .fault(.makeTopicAnew)) }
        for _ in 0..<options.topicsCut { at(moment(), .fault(.cutTopic)) }
        for _ in 0..<options.ledgersEmptied { at(moment(), .fault(.emptyLedger)) }
        for _ in 0..<options.ledgerOutages {
            let begin = moment()
            ledgerOutages.append((begin, min(begin + random(10...40_000), span)))
        }
        for _ in 0..<options.topicOutages {
            let begin = moment()
            let topic = [Topic.granted, .failed, .pending, .quarantined].randomElement(using: &random) ?? .granted
            topicOutages.append((topic, begin, min(begin + random(10...60_000), span)))
        }
        for _ in 0..<options.appleOutages {
            var outage = appleSpan(from: moment(), lasting: 1000...1_800_000)
            outage.isSilent = chance(300)
            apple.outages.append(outage)
        }
        for _ in 0..<options.appleLimits {
            var outage = appleSpan(from: moment(), lasting: 1000...300_000)
            outage.limit = chance(300) ? .unnamed : .named(length(1000...600_000))
            apple.outages.append(outage)
        }
        if options.appleIsAway { drawLongOutages() }
        for _ in 0..<options.appleFailures {
            var outage = appleSpan(from: moment(), lasting: 1000...1_800_000)
            outage.failing = random(200...950)
            apple.outages.append(outage)
        }
        for _ in 0..<options.appleSlowness {
            apple.slowSpans.append(appleSpan(from: moment(), lasting: 1000...1_800_000))
        }
    }

    /// A span of one of Apple's endpoints, whichever.
    private func appleSpan(from begin: Int64, lasting: ClosedRange<Int64>) -> SimulatedApple.Outage {
        SimulatedApple.Outage(
            endpoint: Endpoint.Service.allCases.randomElement(using: &random) ?? .verifyReceipt,
            environment: Environment.allCases.randomElement(using: &random) ?? .production,
            begin: begin, end: begin + length(lasting))
    }

    private func drawLongOutages() {
        // Calls without an end hold a third of the room that a small limit leaves to Apple's endpoints: one of these is
        // away then.
        guard settings.inFlight >= 64 else {
            apple.outages.append(
                SimulatedApple.Outage(
                    endpoint: .verifyReceipt, environment: .production, begin: 0,
                    end: script.lastProducedAt + length(10_000...3_600_000), isSilent: true))
            return
        }
        for service in Endpoint.Service.allCases {
            for environment in Environment.allCases where service == .verifyReceipt || chance(500) {
                apple.outages.append(
                    SimulatedApple.Outage(
                        endpoint: service, environment: environment, begin: 0,
                        end: script.lastProducedAt + length(10_000...3_600_000), isSilent: chance(500)))
            }
        }
    }

    func apply(_ fault: Fault) {
        trace?.happened(fault, self)
        switch fault {
        case .start(let place): start(place)
        case .kill(let place):
            kill(place)
        case .stop(let place):
            guard let life = lives[place], !life.isStopping else { return }
            life.isStopping = true
            after(0, .input(life, .stop))
        case .freeze(let place, let span):
            guard let life = lives[place] else { return }
            life.frozenUntil = now + .milliseconds(span)
            // The coordinator gives up on a member that it does not hear of.
            if span > 10_000 { at(milliseconds + 10_000, .leave(life)) }
        case .rebalance: rebalance()
        case .copyLedger: snapshots.append(ModelTables(copying: ledger.tables))
        case .setLedgerBack:
            guard let copy = snapshots.last else { return }
            // A copy that knows nothing of a topic that the group has read stops workers until an operator has looked.
            let partitions = kafka.partitions.indices.map { SimulatedKafka.name(Int32($0)) }
            // A checkpoint may be on its way to the group.
            let isRead = partitions.contains {
                kafka.partitions[Int($0.partition)].committed != nil || ledger.tables.next(of: $0) != nil
            }
            guard !isEmptied, !isRead || partitions.allSatisfy(copy.knows) else { return }
            replaceLedger(by: copy)
        case .emptyLedger:
            guard kafka.partitions.contains(where: { $0.committed != nil }) else { return }
            isEmptied = true
            replaceLedger(by: ModelTables(id: "ledger-2"))
        case .acceptLedger: acceptLedger()
        case .setOffsetsBack:
            // The coordinator takes them only while the group has no members.
            withoutMembers {
                for index in kafka.partitions.indices {
                    kafka.partitions[index].committed = kafka.partitions[index].committed.map { random(0...$0) }
                }
            }
        case .makeTopicAnew:
            withoutMembers {
                kafka.makeTopicAnew(&random)
                witness.forgetOffsets()
            }
        case .cutTopic: cutTopic()
        case .abandon: abandon()
        case .deploy(let place):
            if let life = lives[place], !life.isStopping { deploy(drawConfiguration(), to: life) }
        case .heal:
            isHealthy = true
            deploy()
            for place in lives.indices where lives[place] == nil { start(place) }
            rebalance()
        }
    }

    private func replaceLedger(by tables: ModelTables) {
        ledger.setBack(to: tables)
        connection.reconnect()
        epoch += 1
    }

    private func cutTopic() {
        for (partition, kept, gone) in kafka.cut(at: milliseconds, &random) {
            let isOwnerBelow = lives.contains { life in
                life?.reading.contains { $0.partition == partition && $0.position <= kept } ?? false
            }
            witness.cut(partition, at: Int64(kept), isOwnerBelow: isOwnerBelow)
            for case let life? in lives {
                for index in life.reading.indices
                where life.reading[index].partition == partition && life.reading[index].position > kept {
                    life.reading[index].isOutOfRange = true
                }
                wakeConsumer(life)
            }
            unproduced += gone.count
            for number in gone { at(milliseconds + random(100...2000), .produce(number)) }
        }
    }

    private func acceptLedger() {
        let note = OperatorNote(
            actor: "somebody", reason: "a new ledger", at: Timestamp(milliseconds: Self.wallStart + milliseconds))
        var committed: [TopicPartition: Int64] = [:]
        for index in kafka.partitions.indices {
            committed[SimulatedKafka.name(Int32(index))] = kafka.partitions[index].committed.map { Int64($0) }
        }
        guard !isAccepted, (try? connection.accept(ledger: ledger.tables.id, for: Self.group, committed, note)) == true
        else { return }
        isAccepted = true
        witness.accepted(
            kafka.partitions.flatMap { partition in partition.records.prefix(Int(partition.committed ?? 0)) })
    }

    private func withoutMembers(_ body: () -> Void) {
        let members = kafka.members
        kafka.members = []
        rebalance()
        body()
        kafka.members = members
        rebalance()
    }

    /// All workers get one configuration.
    private func deploy() {
        let held = ledger.tables.heldForConfiguration.filter { submission in
            ScriptedClaim.number(of: submission.claimant).map { script.claims[$0].endpoints.isEmpty } ?? false
        }
        // Of more rows than one call takes, a row that was tried again may come before a row that was not.
        if settings.inFlight >= 1024, ledger.tables.waiting.count <= settings.heldPerCall {
            witness.mended = (milliseconds, held.map(\.claimant.submissionKey))
        }
        for case let life? in lives { deploy(Life.Configuration(), to: life) }
    }

    private func deploy(_ configuration: Life.Configuration, to life: Life) {
        life.version += 1
        after(0, .input(life, .apps(snapshot(of: configuration, version: life.version))))
    }

    private func snapshot(of configuration: Life.Configuration, version: Int) -> AppsSnapshot {
        let endpoints = SimulatedApple.endpoints.map { endpoint in
            EndpointLimit(endpoint: endpoint, rate: endpoint.service == .serverAPI ? options.callsPerSecond : nil)
        }
        return AppsSnapshot(
            version: version, endpoints: endpoints,
            services: configuration.hasService ? [ServiceLimit(Script.calling, calls: settings.callsPerEndpoint)] : [],
            content: configuration)
    }

    private func drawConfiguration() -> Life.Configuration {
        guard options.configurationsDiffer, !isHealthy else { return Life.Configuration() }
        return Life.Configuration(
            verifies: chance(500), hasService: chance(500),
            repeats: [nil, .publish, .ignore].randomElement(using: &random) ?? nil,
            unknownApp: chance(200) ? Script.apps.randomElement(using: &random) : nil,
            unlisted: chance(300) ? ["gems", "castle"].randomElement(using: &random) : nil)
    }

    func kill(_ place: Int) {
        guard let life = lives[place] else { return }
        die(life)
        lives[place] = nil
        at(milliseconds + random(10...5000), .fault(.start(place)))
    }

    private func start(_ place: Int) {
        guard lives[place] == nil else { return }
        started += 1
        var settings = settings
        settings.worker = WorkerSign(id: Int64(started), name: "worker-\(started)", version: "1")
        let life = Life(
            place: place, core: WorkerCore(settings: settings, seed: random.next()),
            clockError: random(-Self.clockError...Self.clockError), epoch: epoch, number: started)
        life.owner = settings.worker.name
        life.core.transitions = TransitionCounts(isCounting: true)
        lives[place] = life
        deploy(drawConfiguration(), to: life)
        kafka.members.append(life)
        rebalance()
    }

    /// The process is gone; the group hears of it.
    private func die(_ life: Life) {
        life.isAlive = false
        transitions.add(life.core.transitions)
        for number in kafka.partitions.indices { leaveMark(of: life, on: Int32(number)) }
        at(milliseconds + random(0...10_000), .leave(life))
    }

    /// A worker that has ended, or has lost the partition, cannot take its mark back: the next owner counts it.
    func leaveMark(of life: Life, on partition: Int32) {
        guard let offset = ledger.tables.marked(by: life.owner, of: SimulatedKafka.name(partition)) else { return }
        witness.endedWorker(Origin(topic: Script.topic, partition: partition, offset: offset))
    }

    func stopped(_ life: Life, _ reason: StopReason) {
        switch reason {
        case .clean: break
        case .forgotten(ledger: "ledger-2") where isEmptied:
            at(milliseconds + random(100...30_000), .fault(.acceptLedger))
        case .forgotten, .unusable: witness.violations.append(Violation(.stopped, "\(life.name) stopped: \(reason)"))
        }
        life.isAlive = false
        transitions.add(life.core.transitions)
        lives[life.place] = nil
        at(milliseconds, .leave(life))
        at(milliseconds + random(10...5000), .fault(.start(life.place)))
    }

    func leave(_ life: Life) {
        guard kafka.members.contains(where: { $0 === life }) else { return }
        kafka.members.removeAll { $0 === life }
        rebalance()
        guard life.isAlive else { return }
        // It finds out when it goes on, and joins again.
        kafka.members.append(life)
        at(max(milliseconds, (life.frozenUntil?.nanoseconds ?? 0) / 1_000_000) + 10, .fault(.rebalance))
    }

    private func rebalance() {
        let seats = kafka.members
        // A frozen member takes nothing new.
        kafka.members.removeAll { $0.frozenUntil.map { $0 > now } ?? false }
        let (revoked, assigned) = kafka.rebalance(&random)
        kafka.members = seats
        // It takes its part once it moves again.
        for member in seats {
            guard let until = member.frozenUntil, until > now else { continue }
            at(until.nanoseconds / 1_000_000 + 10, .fault(.rebalance))
        }
        for (life, partitions) in revoked where life.isAlive {
            life.reading.removeAll { partitions.contains($0.partition) }
            for partition in partitions { leaveMark(of: life, on: partition) }
            consumerNews(.revoked(partitions.map(SimulatedKafka.name)), life)
        }
        for (life, partitions) in assigned {
            life.coming.append(
                Dictionary(uniqueKeysWithValues: partitions.map { ($0, kafka.partitions[Int($0)].term) }))
            consumerNews(.assigned(partitions.map(SimulatedKafka.name)), life)
        }
    }

    /// A person lets what ended workers be tried again. It is the one row that did, and none besides.
    func retryEndingRows() {
        ledger.now = Timestamp(milliseconds: Self.wallStart + milliseconds)
        let note = OperatorNote(actor: "somebody", reason: "mended", at: ledger.now)
        for submission in ledger.tables.endingWorkers {
            if ClaimDigest(of: submission) != endingRow {
                witness.fail(.held, "\(submission.claimant.submissionKey) ended no worker, and is held for it")
            }
            isRowMended = true
            _ = try? connection.retryNow(submission.claimant.submissionKey, note)
        }
    }

    private func abandon() {
        // Where another record of the submission was answered, that answer stays.
        guard let submission = ledger.tables.waiting.randomElement(using: &random),
            ledger.tables.answer(submission.claimant.submissionKey) == nil
        else { return }
        ledger.now = Timestamp(milliseconds: Self.wallStart + milliseconds)
        let note = OperatorNote(
            actor: "somebody", reason: "asked to", at: Timestamp(milliseconds: Self.wallStart + milliseconds))
        // Also what is retrying or under way, which no command gives up: operators have the last word all the same.
        if (try? connection.abandon(submission.claimant.submissionKey, note, where: { _ in true })) != nil {
            witness.abandoned(submission.claimant.submissionKey, at: milliseconds)
        }
    }
}
