import Contract
import Ledger
import Testing

@testable import Processing

@Suite("Checks after the first of what may end workers")
struct MarkingTests {
    private let bench = CoreBench()

    init() { bench.isSigned = nil }

    private func mark() throws -> CheckMark {
        let (id, marks) = try #require(bench.takeRequest { if case .mark(let marks) = $0 { marks } else { nil } })
        bench.send(.ledger(id, .success(.marked(marks.map { _ in true }))))
        return try #require(marks.first)
    }

    private func renewal() throws -> LeaseRenewal {
        let (id, renewals) = try #require(bench.takeRequest { if case .renew(let list) = $0 { list } else { nil } })
        bench.send(.ledger(id, .success(.renewed(renewals.map { _ in true }))))
        return try #require(renewals.first)
    }

    private var isMarked: Bool { bench.requests.contains { if case .mark = $0.call { true } else { false } } }

    private var isDueAsked: Bool {
        bench.wait(.seconds(1))
        return bench.requests.contains { if case .takeDue = $0.call { true } else { false } }
    }

    /// Answers the worker's questions: nothing is due.
    private func sayNothingIsDue() {
        while let due = bench.takeRequest({ if case .takeDue(let list, _) = $0 { list } else { nil } }) {
            bench.send(.ledger(due.id, .success(.due([]))))
        }
    }

    /// Reads records one by one and asks about the first of them; its attempt.
    private func askAlone(_ offsets: Int64...) throws -> AttemptTask {
        let assignment = try bench.own(next: 0, starts: 3)
        for offset in offsets { #expect(bench.read(offset, in: assignment).isEmpty) }
        #expect(try mark() == CheckMark(ownership: ownership, ended: nil, begins: offsets[0]))
        bench.ask(try #require(bench.takeChecks().first))
        return try #require(bench.takeAttempts().first)
    }

    private var ownership: PartitionOwnership {
        let index = bench.core.partitions.table.index(of: Fixture.partition)
        return bench.core.partitions.table[index ?? 0].ownership
    }

    private func end(_ check: CheckTask, _ result: AttemptResult) {
        bench.send(.checked([Checked(token: check.token, result: .reply(result))]))
    }

    @Test("a record is marked again for the check of Apple's reply, not while Apple is asked")
    func reply() throws {
        let attempt = try askAlone(0, 1)
        #expect(try mark() == CheckMark(ownership: ownership, ended: nil, begins: 1), "zero is no suspect less")
        let second = try #require(bench.takeChecks().first)
        bench.attempted(attempt, .check(Fixture.question()))
        #expect(bench.takeChecks().isEmpty, "another one is marked")
        bench.conclude(second, Fixture.verified("t1"))
        #expect(try mark() == CheckMark(ownership: ownership, ended: 1, begins: 0))
        let check = try #require(bench.takeChecks().first)
        guard case .reply = check.work else {
            Issue.record("the reply is checked")
            return
        }
        #expect(!isMarked, "until that has ended")
        end(check, .concluded(Fixture.verified("t0")))
        #expect(try mark() == CheckMark(ownership: ownership, ended: nil, begins: nil), "nothing new may be a doubt")
    }

    @Test("a record is marked again for the check of its signature on the way to retries")
    func signature() throws {
        let attempt = try askAlone(0)
        #expect(try mark() == CheckMark(ownership: ownership, ended: nil, begins: nil))
        let later = Verdict.retry(.temporarilyUnable, notBefore: bench.wall.advanced(by: .seconds(600)))
        bench.attempted(attempt, .concluded(later))
        #expect(bench.takeChecks().isEmpty)
        #expect(try mark() == CheckMark(ownership: ownership, ended: nil, begins: 0))
        let check = try #require(bench.takeChecks().first)
        bench.send(.checked([Checked(token: check.token, result: .signature(holds: true, nil))]))
        _ = try mark()
        #expect(!isMarked)
        try bench.written(.written(.retrying(.temporarilyUnable), publish: []))
        #expect(try bench.checkpointed().map(\.next) == [1])
    }

    @Test("a record that is decided where it is read is no suspect any more")
    func decided() throws {
        bench.read(0, in: try bench.own(next: 0, starts: 3))
        _ = try mark()
        bench.conclude(try #require(bench.takeChecks().first), Fixture.verified("t0"))
        #expect(try mark() == CheckMark(ownership: ownership, ended: 0, begins: nil))
    }

    @Test("a record that was read alone is marked again also once the others are read as they come")
    func behind() throws {
        var settings = CoreSettings()
        settings.inFlight = 16
        let bench = CoreBench(settings: settings)
        func mark() throws -> Int64? {
            let (id, marks) = try #require(bench.takeRequest { if case .mark(let marks) = $0 { marks } else { nil } })
            bench.send(.ledger(id, .success(.marked(marks.map { _ in true }))))
            return try #require(marks.first).begins
        }
        #expect(bench.read(0, 16, in: try bench.own(next: 0, starts: 3)).isEmpty)
        #expect(try mark() == 0)
        bench.ask(try #require(bench.takeChecks().first))
        #expect(try mark() == nil)
        #expect(bench.takeChecks().count == 1, "Apple may be away for hours")
        bench.attempted(try #require(bench.takeAttempts().first), .check(Fixture.question()))
        #expect(bench.takeChecks().isEmpty)
        #expect(try mark() == 0)
        #expect(bench.takeChecks().count == 1)
    }

    @Test("a suspect row counts as taken while its check runs, and not while Apple is asked")
    func row() throws {
        bench.isNothingDue = false
        try bench.own()
        let row = Fixture.due(0, takings: 7)
        bench.ask(try #require(try bench.takeDue([row]).first))
        #expect(try renewal() == LeaseRenewal(row.lease, takings: 6))
        #expect(isDueAsked)
        bench.attempted(try #require(bench.takeAttempts().first), .check(Fixture.question()))
        bench.send()
        #expect(bench.takeRequest { if case .renew = $0 { true } else { nil } } == nil, "other rows may come")
        sayNothingIsDue()
        #expect(bench.takeChecks().isEmpty)
        #expect(try renewal() == LeaseRenewal(row.lease, takings: 7))
        let check = try #require(bench.takeChecks().first)
        bench.wait(.seconds(61))
        #expect(!isDueAsked)
        end(check, .concluded(Fixture.verified("t1")))
        #expect(try renewal() == LeaseRenewal(row.lease, takings: 6))
        #expect(isDueAsked)
    }

    @Test("a suspect row is not checked again while a record is marked, and none is marked before it was")
    func rowAndRecord() throws {
        bench.isNothingDue = false
        let assignment = try bench.own(next: 0, starts: 3)
        let row = Fixture.due(9, takings: 4)
        bench.ask(try #require(try bench.takeDue([row]).first))
        _ = try renewal()
        sayNothingIsDue()
        for offset in 0..<Int64(2) { bench.read(offset, in: assignment) }
        #expect(try mark().begins == 0)
        let first = try #require(bench.takeChecks().first)
        bench.attempted(try #require(bench.takeAttempts().first), .check(Fixture.question()))
        #expect(bench.takeRequest { if case .renew = $0 { true } else { nil } } == nil)
        bench.conclude(first, Fixture.verified("t0"))
        #expect(try mark().begins == nil, "the row is next")
        #expect(try renewal().takings == 4)
        let check = try #require(bench.takeChecks().first)
        #expect(!isMarked)
        end(check, .concluded(Fixture.verified("t9")))
        #expect(try mark().begins == 1)
    }

    @Test("a suspect row whose lease is another's by then is dropped")
    func rowLost() throws {
        bench.isNothingDue = false
        try bench.own()
        bench.ask(try #require(try bench.takeDue([Fixture.due(0, takings: 7)]).first))
        _ = try renewal()
        sayNothingIsDue()
        bench.attempted(try #require(bench.takeAttempts().first), .check(Fixture.question()))
        bench.send()
        let (id, _) = try #require(bench.takeRequest { if case .renew(let list) = $0 { list } else { nil } })
        bench.send(.ledger(id, .success(.renewed([false]))))
        #expect(bench.takeChecks().isEmpty)
        #expect(bench.core.inFlight == 0)
    }
}
