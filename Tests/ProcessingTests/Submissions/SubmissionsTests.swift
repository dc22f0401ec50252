import Contract
import Ledger
import Scheduling
import Testing

@testable import Processing

@Suite("The machine of submissions")
final class SubmissionsTests {
    private var turn = Turn(seed: 1)
    private var submissions = Submissions(
        limit: InFlightLimit(count: 64, bytes: 1 << 20, purchases: 100), callsPerEndpoint: 8, retryBytes: 1 << 20,
        rowsPerBatch: 16, bytesPerBatch: 1 << 20, doubtLimit: .seconds(60), tellsWaiting: true)
    private let assignment = AssignmentID(rawValue: 1)

    init() { turn.apps = Fixture.apps }

    private func read(_ offsets: Int64..., isOneByOne: Bool = false, poison: Int64? = nil) -> [SubmissionToken] {
        submissions.read(
            offsets.map { Fixture.record($0) },
            of: RecordSource(
                index: 0, assignment: assignment,
                ownership: PartitionOwnership(partition: Fixture.partition, generation: Generation(rawValue: 1)),
                firstNumber: 0, highestOrigin: nil, poison: poison, isOneByOne: isOneByOne), &turn)
    }

    private func checkEnded(_ offset: Int64, _ check: LocalCheck) {
        let task = turn.actions.checks.removeFirst()
        submissions.checkEnded(
            Checked(
                token: task.token, result: .submission(Fixture.submission(offset), DecisionOptions(), check)), &turn)
    }

    private func state(_ token: SubmissionToken) -> FlightState {
        submissions.flights.contains(token) ? submissions.flights[token].state : .vacant
    }

    private var count: Int { submissions.count }

    @Test("checks what it reads, and writes what was verified")
    func way() {
        _ = read(1)
        let token = turn.actions.checks[0].token
        #expect(state(token) == .checking)
        checkEnded(1, .concluded(Fixture.verified("t1")))
        #expect(state(token) == .writing)
        submissions.startBatch(&turn)
        #expect(turn.actions.writes.map(\.decisions.count) == [1])
    }

    @Test("has its record's offset passed once the broker has the last of its events")
    func completed() throws {
        _ = read(1)
        let token = turn.actions.checks[0].token
        checkEnded(1, .concluded(Fixture.verified("t1")))
        submissions.startBatch(&turn)
        let batch = try #require(turn.actions.writes.first?.id)
        let tokens = try #require(result { submissions.batcher.ended(batch) })
        let events = [Fixture.rendered("t1"), Fixture.rendered("t2")]
        submissions.batchWritten(tokens, [.written(.granted(created: 2), publish: events)], &turn)
        _ = turn.takeSignals()
        submissions.published(token, &turn)
        #expect(result { turn.takeSignals() }.isEmpty)
        submissions.published(token, &turn)
        guard case .completed(0, assignment, 0) = result({ turn.takeSignals() }).first else {
            return fail()
        }
        #expect(count == 0)
    }

    @Test("drops what waits when its partition ends, and awaits a call under way")
    func orphans() {
        _ = read(1, 2)
        let waits = turn.actions.checks[1].token
        checkEnded(1, .ask(Fixture.question(), lookUp: nil, isSigned: true))
        submissions.advanceGates(mayAsk: true, &turn)
        let asks = turn.actions.attempts[0].token
        submissions.orphanAll(of: assignment, &turn)
        #expect(state(waits) == .vacant)
        #expect(state(asks) == .asking)
        let verdict = AttemptResult.concluded(Fixture.verified("t1"))
        submissions.attemptEnded(
            Attempted(token: asks, result: verdict, outcome: .replied, took: .seconds(1)), &turn)
        #expect(count == 0)
    }

    @Test("lets records that are read one by one wait for their marks, and a poison record be asked about first")
    func suspects() {
        let suspects = read(1, 2, isOneByOne: true, poison: 2)
        #expect(suspects.map { state($0) } == [.marking])
        guard case .knownOutcomes(let origins) = turn.calls.last else { return fail() }
        #expect(origins.map(\.offset) == [2])
    }

    @Test("marks a suspect record anew for each further check")
    func marks() {
        let token = read(1, isOneByOne: true)[0]
        submissions.mark(token, insteadOf: nil)
        submissions.begin([token], highestOrigin: nil, &turn)
        checkEnded(1, .ask(Fixture.question(), lookUp: nil, isSigned: true))
        submissions.mark(nil, insteadOf: token)
        submissions.check(token, .reply(Fixture.submission(1), Fixture.question()), &turn)
        #expect(state(token) == .marking)
        guard case .checkAgain(0, assignment, let suspect) = result({ turn.takeSignals() }).last else {
            return fail()
        }
        #expect(suspect.offset == 1)
    }

    @Test("counts what waits for Apple until it is decided")
    func undecided() {
        _ = read(1, 2)
        let before = submissions.undecided
        checkEnded(1, .concluded(Fixture.verified("t1")))
        let after = submissions.undecided
        #expect(before == 2 && after == 1)
    }
}
