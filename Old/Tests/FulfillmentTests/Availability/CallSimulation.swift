import Purchases

@testable import Fulfillment

/// Submissions, a worker's window and Apple as events on a line of time: hours in a second, the same in every run.
struct CallSimulation {
    /// What Apple does with a call that begins now.
    typealias Apple = (_ elapsed: Duration, _ target: CallTarget, _ inFlight: Int) -> (CallOutcome, Duration)

    /// One call as it was made.
    struct Call {
        let at: Duration
        let target: CallTarget
        let lane: CallLine.Lane
        let phase: Breaker.Phase
        let outcome: CallOutcome
        /// Under way at this target, this one included.
        let inFlight: Int
    }

    private enum Event {
        case ended(submission: Int, CallAdmission.Permit, CallOutcome, took: Duration)
        case backFromPause(submission: Int)
    }

    private struct Submission {
        let target: CallTarget
        var tries = 0
    }

    let mostCalls: Int
    private(set) var admission: CallAdmission
    private(set) var calls: [Call] = []
    private(set) var settled: [CallTarget: Int] = [:]
    private(set) var mostHeld = 0
    private(set) var held = 0
    private let apple: Apple
    private let targets: [CallTarget]
    private let policy = RetryPolicy()
    private let configuration: PipelineConfiguration
    private var random = SeededGenerator(seed: 1)
    private var submissions: [Submission] = []
    private var events: [(at: Duration, order: Int, event: Event)] = []
    private var order = 0
    private(set) var elapsed = Duration.zero

    /// - Parameter targets: what the backlog's submissions need, in turn.
    init(mostCalls: Int = 200, targets: [CallTarget] = [.verifyReceipt(.production)], apple: @escaping Apple) {
        self.mostCalls = mostCalls
        self.targets = targets
        self.apple = apple
        configuration = PipelineConfiguration(maxInFlight: mostCalls)
        admission = CallAdmission(
            targets: Array(Set(targets)).sorted { "\($0)" < "\($1)" }, policy: configuration.availability,
            mostCalls: mostCalls)
    }

    /// Plays with an endless backlog until a moment.
    mutating func run(until end: Duration) {
        fill()
        while true {
            let next = events.first?.at
            guard let moment = [next, admission.nextMoment].compactMap({ $0 }).min(), moment < end else { break }
            elapsed = max(elapsed, moment)
            begin(admission.advance(to: elapsed))
            while let event = events.first, event.at <= elapsed { handle(pop(event)) }
            fill()
        }
        elapsed = end
    }

    /// Submissions read so far.
    var read: Int { submissions.count }

    /// Calls that began between two moments.
    func calls(from start: Duration, to end: Duration) -> [Call] {
        calls.filter { $0.at >= start && $0.at < end }
    }

    /// Fills the window.
    private mutating func fill() {
        let limit = admission.holdsIntake ? configuration.outageWindowCount : configuration.maxWindowCount
        while held < limit {
            submissions.append(Submission(target: targets[submissions.count % targets.count]))
            held += 1
            ask(submissions.count - 1)
        }
        mostHeld = max(mostHeld, held)
    }

    private mutating func ask(_ submission: Int) {
        let target = submissions[submission].target
        let lane = lane(submission)
        if let permit = admission.permitAtOnce(for: target, lane, elapsed: elapsed) {
            begin(submission, permit)
        } else {
            let id = CallerID(rawValue: UInt64(submission))
            begin(admission.wait(id, for: target, lane, elapsed: elapsed) ?? [])
        }
    }

    private func lane(_ submission: Int) -> CallLine.Lane { submissions[submission].tries > 0 ? .again : .first }

    private mutating func begin(_ admitted: [CallAdmission.Admitted]) {
        for admitted in admitted { begin(Int(admitted.id.rawValue), admitted.permit) }
    }

    private mutating func begin(_ submission: Int, _ permit: CallAdmission.Permit) {
        let target = submissions[submission].target
        guard let state = admission.targets.first(where: { $0.target == target }) else { return }
        let (outcome, took) = apple(elapsed, target, state.inFlight)
        calls.append(
            Call(
                at: elapsed, target: target, lane: lane(submission), phase: state.breaker.phase, outcome: outcome,
                inFlight: state.inFlight))
        submissions[submission].tries += 1
        push(elapsed + took, .ended(submission: submission, permit, outcome, took: took))
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .backFromPause(let submission): ask(submission)
        case .ended(let submission, let permit, let outcome, let took):
            let unit = Double.random(in: 0..<1, using: &random)
            let isRetry = submissions[submission].tries > 1
            let admitted = admission.ended(
                permit, outcome, isRetry: isRetry, took: took, elapsed: elapsed, unit: { unit })
            begin(admitted)
            if outcome == .answered {
                held -= 1
                settled[submissions[submission].target, default: 0] += 1
            } else {
                let delay = policy.backoff.delay(afterFailures: submissions[submission].tries, unit: unit)
                push(elapsed + delay, .backFromPause(submission: submission))
            }
        }
    }

    // MARK: A heap, the earliest event first; of two at a moment the one that was put first

    private func isEarlier(_ left: Int, _ right: Int) -> Bool {
        (events[left].at, events[left].order) < (events[right].at, events[right].order)
    }

    private mutating func push(_ at: Duration, _ event: Event) {
        order += 1
        events.append((at, order, event))
        var place = events.count - 1
        while place > 0, isEarlier(place, (place - 1) / 2) {
            events.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func pop(_ first: (at: Duration, order: Int, event: Event)) -> Event {
        events.swapAt(0, events.count - 1)
        events.removeLast()
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < events.count && isEarlier(child, least) {
                least = child
            }
            guard least != place else { return first.event }
            events.swapAt(place, least)
            place = least
        }
    }
}
