import AppStore
import Purchases
import Synchronization

/// What bringing a case before Apple once came to.
enum TryResult: Hashable, Sendable {
    /// And whose answer, or silence, it follows from; nil if from nobody's.
    case verdict(Verdict, by: CallTarget?)
    /// What the case needs has been away for so long, and enough others wait for it: Apple was not asked, and it is to wait elsewhere.
    case notAsked(awayFor: Duration)
}

/// One try of one receipt at verifyReceipt: makes the calls that ``VerifyReceiptExchange`` asks for, each once Apple may be
/// asked, and tells what they amount to.
///
/// No task waits for it. Thousands of tries wait at a time, and each goes on within whoever brings its permit or its answer:
/// a task would be woken three times for a call that is done in a few microseconds.
final class VerifyReceiptTry: Sendable {
    /// Hears what the try came to; nil if it was given up, or the worker stops and it was not made.
    typealias Ending = @Sendable (TryResult?) -> Void

    /// What is asked next.
    private struct Question {
        let environment: Environment
        let secret: SharedSecret?
        /// Over a connection that was never used before.
        let isFresh: Bool
    }

    /// A place in the line for Apple.
    private struct Wait {
        let caller: CallerID
        let target: CallTarget
        let lane: CallLine.Lane
    }

    private struct State {
        var exchange: VerifyReceiptExchange
        /// Where the last call of this try was made. The next is a part of it then, and comes before those of others.
        var asked: CallTarget?
        var wait: Wait?
        /// Nil before it begins, and once it has heard: what still comes then is of no more use.
        var ending: Ending?
    }

    private let verifier: Verifier
    private let question: ReceiptQuestion
    private let isRetry: Bool
    private let asker: Asker
    private let state: Mutex<State>

    /// - Parameters:
    ///   - isRetry: whether the case was brought before Apple already.
    ///   - asker: where the case comes from.
    init(
        _ question: ReceiptQuestion, of opened: Verifier.Case, by verifier: Verifier, isRetry: Bool, asker: Asker
    ) {
        self.asker = asker
        self.verifier = verifier
        self.question = question
        self.isRetry = isRetry
        let exchange = VerifyReceiptExchange(
            app: opened.registered.app, submission: opened.claim, receivedAt: opened.receivedAt,
            sharedSecrets: opened.registered.sharedSecrets, sent: question.mark, isRetry: isRetry)
        state = Mutex(State(exchange: exchange))
    }

    /// Begins, once.
    ///
    /// - Parameter ending: called once, on the thread of whoever ends the try. It must not block.
    func begin(_ ending: @escaping Ending) {
        let step = state.withLock { state in
            state.ending = ending
            return state.exchange.start()
        }
        follow(step)
    }

    /// Ends the try at once, without a verdict. A call that is under way ends by itself, and its answer is not looked at.
    func giveUp() {
        let wait = state.withLock { $0.wait.take() }
        end(with: nil)
        if let wait { verifier.apple.withdraw(wait.caller, from: wait.target, wait.lane) }
    }

    private func follow(_ step: VerifyReceiptExchange.Step) {
        switch step {
        case .conclude(let verdict): end(with: .verdict(verdict, by: state.withLock { $0.asked }))
        case .call(let environment, let secret, let isFresh):
            standInLine(Question(environment: environment, secret: secret, isFresh: isFresh))
        case .compare:
            let purchases = question.purchases
            follow(state.withLock { compare(&$0, with: purchases) })
        }
    }

    /// Holds the answer against the receipt that was sent.
    private func compare(_ state: inout State, with purchases: [ReceiptPurchase]) -> VerifyReceiptExchange.Step {
        let step = state.exchange.compared(with: purchases)
        switch step {
        case .call, .conclude(.retry(.noAnswer, _, _)):
            if let asked = state.asked { verifier.warnOfOtherReceipt(asked.environment) }
        case .conclude, .compare: break
        }
        return step
    }

    private func end(with result: TryResult?) {
        state.withLock { $0.ending.take() }?(result)
    }

    private func standInLine(_ next: Question) {
        let target = CallTarget.verifyReceipt(next.environment)
        let caller = verifier.apple.newCaller(asker)
        let lane = state.withLock { state in
            let lane: CallLine.Lane = state.asked != nil ? .goingOn : isRetry ? .again : .first
            state.wait = Wait(caller: caller, target: target, lane: lane)
            return lane
        }
        verifier.apple.permit(caller, for: target, lane) { [self] turn in
            switch turn {
            case .permit(let permit): call(next, permit)
            case .crowded(let awayFor): end(with: .notAsked(awayFor: awayFor))
            case .never: end(with: nil)
            }
        }
        // Given up before it stood in line: nobody else takes it out again.
        if state.withLock({ $0.ending == nil }) { verifier.apple.withdraw(caller, from: target, lane) }
    }

    private func call(_ next: Question, _ permit: CallAdmission.Permit) {
        let environment = next.environment
        let isWanted = state.withLock { state in
            state.wait = nil
            state.asked = .verifyReceipt(environment)
            return state.ending != nil
        }
        guard isWanted else { return verifier.apple.ended(permit, .unknown, isRetry: isRetry, took: .zero) }
        let started = verifier.clock.elapsed()
        verifier.endpoint.verifyReceipt(
            environment, body: question.body(with: next.secret), isFresh: next.isFresh
        ) { [self] reply in
            let took = verifier.called(environment, reply, since: started)
            answered(reply, took, permit)
        }
    }

    private func answered(_ reply: AppStoreReply, _ took: Duration, _ permit: CallAdmission.Permit) {
        let now = verifier.clock.now()
        var step = state.withLock { state in
            state.ending == nil ? nil : state.exchange.answered(reply, now: now)
        }
        if step == .compare {
            // The whole receipt is read again: not while anybody waits for the lock.
            let purchases = question.purchases
            step = state.withLock { state in
                state.ending == nil ? nil : compare(&state, with: purchases)
            }
        }
        var verdict: Verdict?
        if case .conclude(let concluded) = step { verdict = concluded }
        verifier.apple.ended(
            permit, CallOutcome(reply, from: .verifyReceipt, concluded: verdict, now: now), isRetry: isRetry, took: took
        )
        if let step { follow(step) }
    }
}
