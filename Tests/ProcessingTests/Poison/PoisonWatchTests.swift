import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("The watch for a poison record")
final class PoisonWatchTests {
    private var watch = PoisonWatch()
    private var flights = Flights(vacant: .vacant, capacity: 16)
    private let now = Instant.zero

    private func begin(starts: Int = 3, _ suspect: CheckSuspect? = nil) -> Int64? {
        watch.begin(
            PartitionStart(next: 10, highestOrigin: nil, starts: starts, suspect: suspect), recordsAtOnce: 2, at: now)
    }

    /// A record that waits for its mark.
    private func wait(_ offset: Int64) -> SubmissionToken {
        var flight = Flight(.nobody)
        flight.state = .marking
        flight.record = Fixture.record(offset)
        let token = flights.insert(flight)
        watch.enqueue(token)
        return token
    }

    /// The offsets of the ended and of the beginning check, where the ledger must note one of them.
    private func step(mayBegin: Bool = true, comesBack: Bool = false) -> (ended: Int64?, begins: Int64?)? {
        guard
            case .mark(let ended, let begins) = watch.advance(
                mayBegin: mayBegin, in: flights, mayComeBack: { _ in comesBack })
        else { return nil }
        return (ended, begins?.offset)
    }

    private var isReleasing: Bool {
        if case .release = watch.advance(mayBegin: true, in: flights, mayComeBack: { _ in false }) {
            true
        } else {
            false
        }
    }

    @Test("lets records be checked as they come before the third start at one offset")
    func calm() {
        #expect(begin(starts: 2) == nil)
        watch.beginReading(at: 10)
        #expect(!watch.isOneByOne && !watch.isActive)
    }

    @Test(
        "has as many records checked one by one as may be in flight, and twice as many with each further start",
        arguments: [(3, 12), (4, 14), (8, 74), (20, 74)])
    func span(starts: Int, end: Int64) {
        _ = begin(starts: starts)
        watch.beginReading(at: 10)
        #expect(watch.isOneByOne)
        _ = wait(end - 1)
        #expect(step()?.begins == end - 1)
        watch = PoisonWatch()
        _ = begin(starts: starts)
        watch.beginReading(at: 10)
        _ = wait(end)
        #expect(step() == nil && isReleasing)
    }

    @Test("marks one record at a time, and counts the end of its check with the mark of the next")
    func oneByOne() {
        _ = begin()
        watch.beginReading(at: 10)
        let (first, second) = (wait(10), wait(11))
        #expect(step(mayBegin: false) == nil && !watch.isMarked)
        #expect(step()! == (nil, 10) && watch.marked?.token == first)
        #expect(step() == nil)
        flights[first].state = .writing
        #expect(step()! == (10, 11) && watch.marked?.token == second)
        flights[second].state = .publishing
        #expect(step()! == (11, nil) && watch.isMarked)
        // Nothing begins before the ledger has taken the last mark away.
        _ = wait(20)
        #expect(!isReleasing)
        watch.unmarked()
        #expect(!watch.isMarked && isReleasing)
    }

    @Test("does not count the end of a check behind which another one may follow")
    func comesBack() {
        _ = begin()
        watch.beginReading(at: 10)
        let token = wait(10)
        _ = step()
        flights[token].state = .waiting
        #expect(step(comesBack: true)! == (nil, nil))
        watch.unmarked()
        flights[token].state = .marking
        watch.checkAgain(PoisonWatch.Suspect(token: token, offset: 10))
        #expect(step()! == (nil, 10))
    }

    @Test("passes over records that have left meanwhile")
    func gone() {
        _ = begin()
        watch.beginReading(at: 10)
        flights.remove(wait(10))
        _ = wait(11)
        #expect(step()?.begins == 11)
    }

    @Test("releases what waits, in order, and watches no more")
    func release() {
        _ = begin()
        watch.beginReading(at: 10)
        let waiting = [wait(12), wait(13)]
        #expect(isReleasing)
        let released = watch.release(in: flights)
        #expect(released == waiting && !watch.isOneByOne && !watch.isActive)
    }

    @Test("knows the poison record by five ends in a row, and not by four", arguments: [(4, nil), (5, 10)])
    func poison(ends: Int, offset: Int64?) {
        #expect(begin(CheckSuspect(offset: 10, ends: ends)) == nil)
        #expect(watch.offset == offset)
    }

    @Test("keeps the count of the poison record, which is read again before the quarantine topic has it")
    func poisonStays() {
        #expect(begin(CheckSuspect(offset: 10, ends: 5)) == nil)
        watch.beginReading(at: 10)
        let poison = wait(10)
        #expect(step()?.begins == 10)
        flights.remove(poison)
        guard let next = step() else {
            Issue.record("its mark is taken away")
            return
        }
        #expect(next.ended == nil && next.begins == nil)
        watch = watch.next
        #expect(begin(CheckSuspect(offset: 10, ends: 5)) == nil)
        #expect(watch.offset == 10, "also for this worker")
    }

    @Test("takes the mark away of a record whose check this worker has survived")
    func survivor() {
        _ = begin()
        watch.beginReading(at: 10)
        _ = wait(10)
        _ = step()
        watch = watch.next
        #expect(begin(CheckSuspect(offset: 10, ends: 7)) == 10)
        #expect(watch.offset == nil && watch.isMarked)
    }

    @Test("does not suspect a partition for take-overs of this worker, which lives", arguments: [1, 2])
    func ownTakeOvers(first: Int) {
        for starts in first..<first + 9 {
            _ = begin(starts: starts)
            watch.beginReading(at: 10)
            #expect(!watch.isOneByOne)
            watch = watch.next
        }
    }

    @Test("goes on suspecting a partition that this worker found suspect, no more than then")
    func ownTakeOverOfSuspect() {
        for starts in 3..<9 {
            if starts > 3 { watch = watch.next }
            _ = begin(starts: starts)
        }
        watch.beginReading(at: 10)
        #expect(watch.isOneByOne)
        _ = wait(12)
        #expect(step() == nil && isReleasing)
    }

    @Test("becomes calm after thirty seconds in which records were asked for and none came")
    func becomesCalm() {
        _ = begin()
        let moment = now + .seconds(30)
        #expect(watch.calmAt == moment)
        let later = now + .seconds(1)
        let withRecords = watch.becomeCalm(hasRecords: true, demandedSince: now, at: moment)
        let early = watch.becomeCalm(hasRecords: false, demandedSince: later, at: moment)
        #expect(!withRecords && !early && watch.calmAt == moment + .seconds(1))
        let due = watch.becomeCalm(hasRecords: false, demandedSince: later, at: moment + .seconds(1))
        #expect(due)
        watch.beginReading(at: 10)
        #expect(watch.isCalm && !watch.isOneByOne)
    }

    @Test("forgets the poison record once it is calm, because another record may come to stand there")
    func forgetsPoison() {
        _ = begin(CheckSuspect(offset: 10, ends: 5))
        #expect(watch.offset == 10)
        _ = watch.becomeCalm(hasRecords: false, demandedSince: now, at: now + .seconds(30))
        #expect(watch.offset == nil)
    }
}

@Suite("Rows of retries that may end workers")
struct SuspectRowQueueTests {
    @Test("are marked one by one, those that left passed over, and unmarked when their check ends")
    func marks() {
        var flights = Flights(vacant: .vacant, capacity: 4)
        var flight = Flight(.nobody)
        flight.state = .marking
        let gone = flights.insert(flight)
        let row = flights.insert(flight)
        var rows = SuspectRows()
        rows.checkAgain(gone)
        rows.checkAgain(row)
        flights.remove(gone)
        #expect(!rows.isEmpty && !rows.isInCheck(in: flights))
        let first = rows.markNext(in: flights)
        #expect(first == row && rows.isInCheck(in: flights))
        flights[row].state = .checking
        let isEarly = rows.ended(row, in: flights)
        flights[row].state = .waiting
        let isOver = rows.ended(row, in: flights)
        #expect(!isEarly && isOver && rows.marked == nil && rows.isEmpty)
    }

    @Test("wait while any row is in its first check")
    func first() {
        var rows = SuspectRows()
        rows.inFirstCheck = 1
        #expect(rows.isInCheck(in: Flights(vacant: .vacant, capacity: 1)))
    }
}
