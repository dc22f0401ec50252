import Testing

@testable import HTTPTransport

/// Long random histories, each compared step by step with a model that is too slow to be wrong.
struct TransferTableModelTests {
    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `a table does what a plain list of transfers would`(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var pair = TableAndModel(
            maxRunning: Int.random(in: 1...4, using: &random), maxWaiting: Int.random(in: 0...5, using: &random))
        for step in 0..<400 {
            // Closing comes late, so that most of a history happens before it.
            let anyButClose = TableAndModel.Step.allCases.dropLast()
            pair.step(step == 380 ? .close : anyButClose.randomElement(using: &random), &random)
            guard pair.table.runningCount == pair.model.running.count,
                pair.table.waitingCount == pair.model.waiting.count, pair.fromTable == pair.fromModel
            else {
                Issue.record("step \(step): \(pair.fromTable.suffix(3)) instead of \(pair.fromModel.suffix(3))")
                return
            }
        }
        #expect(pair.fromTable.count > 100)
    }
}

/// The same calls made to both, and everything that either said in return.
private struct TableAndModel {
    enum Step: CaseIterable {
        case announce, submit, cancel, end, turn, close
    }

    var table: TransferTable<String, Int>
    var model: Model
    var fromTable: [String] = []
    var fromModel: [String] = []
    private var announced: [TransferID] = []
    private var known: [TransferID] = []
    private var onLoop: [TransferID] = []
    private var ended: [TransferID] = []

    init(maxRunning: Int, maxWaiting: Int) {
        table = TransferTable(maxRunning: maxRunning, maxWaiting: maxWaiting)
        model = Model(maxRunning: maxRunning, maxWaiting: maxWaiting)
    }

    mutating func step(_ step: Step?, _ random: inout SplitMix64) {
        switch step {
        case .announce:
            let id = table.announce()
            announced.append(id)
            known.append(id)
        case .submit:
            guard let id = announced.randomElement(using: &random) else { return }
            announced.removeAll { $0 == id }
            let ticket = Int(id.rawValue)
            switch table.submit(id, order: "\(ticket)", ticket: ticket) {
            case .accepted: fromTable.append("accepted \(ticket)")
            case .refused(let ticket, let refusal): fromTable.append("refused \(ticket) \(refusal)")
            }
            fromModel.append(model.submit(ticket))
        case .cancel:
            guard let id = known.randomElement(using: &random) else { return }
            fromTable.append("cancelled \(String(describing: table.cancel(id).ticket))")
            fromModel.append("cancelled \(String(describing: model.cancel(Int(id.rawValue))))")
        case .end:
            // What failed to start ends like what ran.
            guard let id = onLoop.randomElement(using: &random) else { return }
            onLoop.removeAll { $0 == id }
            ended.append(id)
        case .turn: turn()
        case .close:
            fromTable.append("closed \(table.close().tickets)")
            fromModel.append("closed \(model.close())")
        case nil: return
        }
    }

    private mutating func turn() {
        let turn = table.turn(ended: ended)
        fromTable.append("ended \(turn.ended) started \(turn.starts.map(\.order)) finished \(turn.isFinished)")
        fromModel.append(model.turn(ended: ended.map { Int($0.rawValue) }))
        onLoop += turn.starts.map(\.id)
        onLoop.removeAll(where: turn.aborts.contains)
        ended = turn.aborts
    }
}

/// What the table is to do, in lists and without any thought of speed.
private struct Model {
    let maxRunning: Int
    let maxWaiting: Int
    var running: [Int] = []
    var waiting: [Int] = []
    private var toStart: [Int] = []
    private var handedOut: Set<Int> = []
    private var submitted: Set<Int> = []
    private var cancelledEarly: Set<Int> = []
    private var isClosed = false

    init(maxRunning: Int, maxWaiting: Int) {
        self.maxRunning = maxRunning
        self.maxWaiting = maxWaiting
    }

    mutating func submit(_ ticket: Int) -> String {
        submitted.insert(ticket)
        if cancelledEarly.contains(ticket) { return refuse(ticket, "cancelled") }
        if isClosed { return refuse(ticket, "closed") }
        if running.count < maxRunning {
            running.append(ticket)
            toStart.append(ticket)
        } else if waiting.count < maxWaiting {
            waiting.append(ticket)
        } else {
            return refuse(ticket, "tooManyWaiting")
        }
        return "accepted \(ticket)"
    }

    mutating func cancel(_ ticket: Int) -> Int? {
        if !submitted.contains(ticket) { cancelledEarly.insert(ticket) }
        let isHere = running.contains(ticket) || waiting.contains(ticket)
        waiting.removeAll { $0 == ticket }
        return isHere && handedOut.insert(ticket).inserted ? ticket : nil
    }

    mutating func turn(ended: [Int]) -> String {
        let tickets = ended.map { ticket -> Int? in
            guard running.contains(ticket) else { return nil }
            running.removeAll { $0 == ticket }
            return handedOut.insert(ticket).inserted ? ticket : nil
        }
        while running.count < maxRunning, !waiting.isEmpty {
            let next = waiting.removeFirst()
            running.append(next)
            toStart.append(next)
        }
        defer { toStart = [] }
        return "ended \(tickets) started \(toStart.map(String.init)) finished \(isClosed && running.isEmpty)"
    }

    mutating func close() -> [Int] {
        let here = (running + waiting).sorted()
        isClosed = true
        waiting = []
        return here.filter { handedOut.insert($0).inserted }
    }

    private mutating func refuse(_ ticket: Int, _ reason: String) -> String {
        handedOut.insert(ticket)
        return "refused \(ticket) \(reason)"
    }
}
