import Testing

@testable import HTTPTransport

struct TransferTableTests {
    private typealias Table = TransferTable<String, Int>

    /// A table with one slot and one place to wait, so that every limit is near.
    private func small() -> Table { Table(maxRunning: 1, maxWaiting: 1) }

    @Test func `a submission with a free slot wakes the loop, which starts it and hands its ticket out when it ends`() {
        var table = small()
        let id = table.announce()

        #expect(table.submit(id, order: "a", ticket: 1).wakes == true)
        #expect(table.turn(ended: []).starts.map(\.order) == ["a"])
        #expect(table.turn(ended: []).starts.isEmpty)
        #expect(table.turn(ended: [id]).ended == [1])
        #expect(table.runningCount == 0)
        #expect(table.turn(ended: [id]).ended == [nil])
    }

    @Test func `one wake-up serves all submissions until the loop's next turn`() {
        var table = Table(maxRunning: 3, maxWaiting: 0)
        let wakes = (0..<2).map { number in
            let id = table.announce()
            return table.submit(id, order: "", ticket: number).wakes
        }
        #expect(wakes == [true, false])

        _ = table.turn(ended: [])
        let id = table.announce()
        #expect(table.submit(id, order: "", ticket: 2).wakes == true)
    }

    @Test func `the line is served in order as slots come free`() {
        var table = Table(maxRunning: 1, maxWaiting: 5)
        let ids = (0..<4).map { number in
            let id = table.announce()
            _ = table.submit(id, order: "\(number)", ticket: number)
            return id
        }
        #expect(table.waitingCount == 3)
        #expect(table.turn(ended: []).starts.map(\.order) == ["0"])
        #expect(table.turn(ended: [ids[0]]).starts.map(\.order) == ["1"])
        _ = table.cancel(ids[2])
        #expect(table.turn(ended: [ids[1]]).starts.map(\.order) == ["3"])
    }

    @Test func `a full line refuses`() {
        var table = small()
        for ticket in 0..<2 {
            let id = table.announce()
            _ = table.submit(id, order: "", ticket: ticket)
        }
        let id = table.announce()
        #expect(table.submit(id, order: "", ticket: 7).refusal == .tooManyWaiting)
        #expect(table.cancel(id).ticket == nil)
    }

    @Test func `cancelling before submitting refuses the submission, and starts nothing`() {
        var table = small()
        let id = table.announce()
        #expect(table.cancel(id).ticket == nil)
        #expect(table.submit(id, order: "", ticket: 1).refusal == .cancelled)
        #expect(table.turn(ended: []).starts.isEmpty)
    }

    @Test func `a cancelled transfer keeps its slot until the loop dropped it`() {
        var table = small()
        let (first, second) = (table.announce(), table.announce())
        _ = table.submit(first, order: "first", ticket: 1)
        _ = table.submit(second, order: "second", ticket: 2)
        _ = table.turn(ended: [])

        let (ticket, wake) = table.cancel(first)

        #expect(ticket == 1)
        #expect(wake)
        let turn = table.turn(ended: [])
        #expect(turn.aborts == [first])
        #expect(turn.starts.isEmpty)
        let next = table.turn(ended: [first])
        #expect(next.ended == [nil])
        #expect(next.starts.map(\.order) == ["second"])
    }

    @Test func `closing hands out every ticket once and ends the loop when no slot is taken`() {
        var table = small()
        let (first, second, third) = (table.announce(), table.announce(), table.announce())
        _ = table.submit(first, order: "", ticket: 1)
        _ = table.submit(second, order: "", ticket: 2)
        _ = table.turn(ended: [])

        let (tickets, wake) = table.close()

        #expect(tickets == [1, 2])
        #expect(wake)
        #expect(table.close().tickets.isEmpty)
        #expect(table.submit(third, order: "", ticket: 3).refusal == .closed)
        let turn = table.turn(ended: [])
        #expect(turn.aborts == [first])
        #expect(!turn.isFinished)
        #expect(table.turn(ended: [first]).isFinished)
    }

    /// Every order of seven steps on three transfers: each ticket comes out at most once while the loop runs, exactly
    /// once when it is done, and no limit is ever passed.
    @Test func `each ticket comes out exactly once, whatever happens in whatever order`() {
        let steps: [Step] = [.submit, .cancelOldest, .cancelNewest, .turn, .endOldest, .close]
        var sequences: [[Step]] = [[]]
        for _ in 0..<6 {
            sequences = sequences.flatMap { head in steps.map { head + [$0] } }
        }
        #expect(sequences.count == 46_656)
        let wrong = sequences.filter { !Self.isSound($0) }
        #expect(wrong.isEmpty, "\(wrong.first ?? [])")
    }

    private enum Step {
        case submit, cancelOldest, cancelNewest, turn, endOldest, close
    }

    private static func isSound(_ steps: [Step]) -> Bool {
        var table = Table(maxRunning: 1, maxWaiting: 1)
        var ids: [TransferID] = []
        var onLoop: [TransferID] = []
        var ended: [TransferID] = []
        var out: [Int] = []
        func turn() -> Bool {
            let turn = table.turn(ended: ended)
            out += turn.ended.compactMap { $0 }
            ended = turn.aborts
            onLoop += turn.starts.map(\.id)
            onLoop.removeAll(where: turn.aborts.contains)
            return turn.isFinished
        }
        func cancel(_ id: TransferID?) {
            if let id, let ticket = table.cancel(id).ticket { out.append(ticket) }
        }
        for step in steps {
            switch step {
            case .submit:
                let id = table.announce()
                ids.append(id)
                if case .refused(let ticket, _) = table.submit(id, order: "", ticket: ids.count) { out.append(ticket) }
            case .cancelOldest: cancel(ids.first)
            case .cancelNewest: cancel(ids.last)
            case .turn: _ = turn()
            case .endOldest: if !onLoop.isEmpty { ended.append(onLoop.removeFirst()) }
            case .close: out += table.close().tickets
            }
            guard table.runningCount <= 1, table.waitingCount <= 1, Set(out).count == out.count else { return false }
        }
        out += table.close().tickets
        var turnsLeft = 10
        while !turn(), turnsLeft > 0 {
            ended += onLoop
            onLoop = []
            turnsLeft -= 1
        }
        return turnsLeft > 0 && out.sorted() == Array(1..<(ids.count + 1))
    }
}

extension TransferTable.Submission {
    /// Nil when refused.
    fileprivate var wakes: Bool? {
        if case .accepted(let wake) = self { wake } else { nil }
    }

    fileprivate var refusal: TransferTable.Refusal? {
        if case .refused(_, let refusal) = self { refusal } else { nil }
    }
}
