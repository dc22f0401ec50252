import Ledger
import Logging
import Metrics
import Purchases

/// Verifies many submissions at once, each until it has a fate, and hands the fates to settlement as they come.
struct VerificationStage: Sendable {
    /// Share of the stop limit that calls in flight may use; the rest is for settlement and publishing.
    static let stopShare = 0.6
    /// Most submissions opened before their conclusions are handed on. Small enough that a batch from the broker is
    /// shared between all cores: checking signatures is most of the work there is.
    static let batch = 64

    let parts: PipelineParts
    let verifier: Verifier

    init(parts: PipelineParts, verifier: Verifier) {
        self.parts = parts
        self.verifier = verifier
    }

    /// Runs until nothing more is admitted and all that was has its fate, or the stop's share of time is over.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await verifyAll() }
                    group.addTask { await parts.apple.keepTime() }
                    await group.next()
                    group.cancelAll()
                }
            }
            group.addTask {
                await parts.stopping.wait()
                parts.apple.close()
                await stopShareIsOver()
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits until the worker has been stopping for as long as calls in flight may take, or the task is cancelled.
    func stopShareIsOver() async {
        await parts.stopping.wait()
        // A cancelled sleep means that everything ended in time.
        do { try await parts.clock.sleep(for: parts.configuration.stopLimit * Self.stopShare) } catch { return }
    }

    private func verifyAll() async {
        let tries = FirstTries(openers: parts.configuration.openers)
        await withDiscardingTaskGroup { group in
            for _ in 0..<parts.configuration.openers { group.addTask { await openAll(tries) } }
            while let unsettled = await tries.takeUnsettled() {
                for again in unsettled {
                    group.addTask(executorPreference: verifier.executor(for: again.opened)) {
                        guard await pause(for: again.delay) else { return }
                        await verify(again.claim, again.opened, again.state, isRetry: true)
                    }
                }
            }
            if Task.isCancelled { tries.abandon() }
        }
    }

    /// Opens submissions, batch by batch, for as long as some are admitted; what has to be asked goes on by itself, or in a
    /// task of its own.
    private func openAll(_ tries: FirstTries) async {
        await withDiscardingTaskGroup { group in
            while let batch = await parts.admitted.take(atMost: Self.batch) {
                var concluded: [Settled] = []
                concluded.reserveCapacity(batch.count)
                for submission in batch {
                    // Opened here and not where it is asked, so that the evidence as it came is not kept while it waits.
                    switch verifier.open(submission.read.submission, receivedAt: submission.receivedAt) {
                    case .concluded(let verdict): concluded += settled(verdict, submission)
                    case .ask(let opened):
                        let claim = submission.withoutEvidence
                        guard !tryFirst(claim, opened, tries) else { continue }
                        group.addTask(executorPreference: verifier.executor(for: opened)) {
                            await verify(claim, opened, RetryState(), isRetry: false)
                        }
                    }
                }
                parts.settled.put(concluded)
            }
        }
        tries.end()
    }

    /// Begins the first try of what can be tried without a task, unless the worker stops.
    ///
    /// - Returns: false if it needs a task, and nothing is begun.
    private func tryFirst(_ claim: AdmittedSubmission, _ opened: Verifier.Case, _ tries: FirstTries) -> Bool {
        guard let firstTry = verifier.firstTry(of: opened) else { return false }
        guard !parts.stopping.isRaised else { return true }
        tries.begin()
        firstTry.begin { result in
            var state = RetryState()
            if let result, !tries.areAbandoned, let delay = follow(result, claim, opened, &state) {
                tries.put(FirstTries.Unsettled(claim: claim, opened: opened, state: state, delay: delay))
            }
            tries.end()
        }
        return true
    }

    /// A conclusion without a call never asks to be tried again, so one step settles it.
    private func settled(
        _ verdict: Verdict, _ admitted: AdmittedSubmission, _ state: RetryState = RetryState()
    ) -> [Settled] {
        var state = state
        guard case .settle(let decision) = step(&state, verdict, admitted, isAway: false) else { return [] }
        // Apple was not asked, so a submission that comes from the topic has no attempts; one from the ledger has those before.
        let attempts = admitted.ticket == nil ? state.attempts : 0
        return [admitted.settled(decision, attempts: attempts, history: state.history)]
    }

    /// Verifies a submission that waited in the ledger: one try, and back with a fate or another due time.
    func verifyDue(_ due: DueSubmission) async {
        guard let submission = due.submission else {
            parts.logger.error(
                "A parked submission cannot be read by this version; it comes due again",
                metadata: ["submissionId": "\(due.claimant.submissionID)", "bundleId": "\(due.claimant.bundleID)"])
            return
        }
        let admitted = AdmittedSubmission(
            read: ReadSubmission(submission: submission, claimant: due.claimant, fingerprint: due.fingerprint),
            origin: due.origin, receivedAt: due.receivedAt, ticket: nil, weight: 0)
        guard verifier.apps[due.claimant.bundleID] != nil else { return hold(due, admitted) }
        switch verifier.open(submission, receivedAt: due.receivedAt) {
        case .concluded(let verdict): parts.settled.put(settled(verdict, admitted, RetryState(due)))
        case .ask(let opened):
            await withTaskExecutorPreference(verifier.executor(for: opened)) {
                let state = RetryState(due)
                await verify(admitted.withoutEvidence, opened, state, isRetry: state.attempts > 0)
            }
        }
    }

    /// It was accepted when its app was configured. That this worker does not know the app now is a mistake, or the order of a
    /// rollout, and fails nobody.
    private func hold(_ due: DueSubmission, _ admitted: AdmittedSubmission) {
        var state = RetryState(due)
        let verdict = Verdict.hold(.appNotConfigured, detail: "The app is not in this worker's apps file any more.")
        guard case .wait(let cause, let detail, let delay) = step(&state, verdict, admitted, isAway: false) else {
            return
        }
        note(verdict, admitted)
        park(admitted, admitted.read.submission, cause, detail, delay, state)
    }

    /// Hands a submission to the ledger until it is due.
    private func park(
        _ admitted: AdmittedSubmission, _ submission: Submission, _ cause: WaitingCause, _ detail: String,
        _ delay: Duration, _ state: RetryState
    ) {
        let waiting = Waiting(
            cause, detail: detail, submission: submission, delay: delay, doubtSince: state.doubtSince)
        parts.settled.put([admitted.settled(.wait(waiting), attempts: state.attempts, history: state.history)])
    }

    private func verify(
        _ admitted: AdmittedSubmission, _ opened: Verifier.Case, _ start: RetryState, isRetry: Bool
    ) async {
        var state = start
        var isRetry = isRetry
        // Once the worker stops nothing new is begun: the record is read again after the restart. An attempt that the
        // stop cuts short, or that was never made, is not counted.
        let asker: Asker = admitted.ticket != nil ? .topic : .ledger
        while !parts.stopping.isRaised,
            let result = await verifier.verify(opened, isRetry: isRetry, asker: asker), !Task.isCancelled
        {
            isRetry = true
            guard let delay = follow(result, admitted, opened, &state), await pause(for: delay) else { return }
        }
    }

    /// Does what follows from a try.
    ///
    /// Not inlined: what is, lives in the frame of the task, of which there are thousands.
    ///
    /// - Returns: how long to wait for another try; nil if there is none here.
    @inline(never)
    private func follow(
        _ result: TryResult, _ admitted: AdmittedSubmission, _ opened: Verifier.Case, _ state: inout RetryState
    ) -> Duration? {
        let verdict: Verdict
        let next: RetryState.Step
        switch result {
        case .verdict(let heard, let target):
            verdict = heard
            next = step(&state, verdict, admitted, isAway: target.map(parts.apple.isTroubled) ?? false)
        case .notAsked(let awayFor):
            verdict = .retry(.unreachable, notBefore: nil, patience: .unlimited)
            next = state.notAsked(parts.configuration.retry, awayFor: awayFor, unit: parts.randomness.unit())
        }
        switch next {
        case .settle(let decision):
            parts.settled.put([admitted.settled(decision, attempts: state.attempts, history: state.history)])
            return nil
        case .tryAgain(let delay):
            note(verdict, admitted)
            return delay
        case .wait(let cause, let detail, let delay):
            note(verdict, admitted)
            park(admitted, admitted.read.submission.with(opened.evidence), cause, detail, delay, state)
            return nil
        }
    }

    private func step(
        _ state: inout RetryState, _ verdict: Verdict, _ admitted: AdmittedSubmission, isAway: Bool
    ) -> RetryState.Step {
        state.received(
            verdict, policy: parts.configuration.retry, receivedAt: admitted.receivedAt, now: parts.clock.now(),
            unit: parts.randomness.unit(), isAway: isAway, claiming: admitted.read.submission.transactionID)
    }

    private func note(_ verdict: Verdict, _ admitted: AdmittedSubmission) {
        switch verdict {
        case .retry(let cause, _, _): parts.metrics.retries[cause]?.increment()
        case .hold(let cause, let detail):
            parts.metrics.holds[cause]?.increment()
            let bundleID = admitted.read.claimant.bundleID
            guard let count = parts.alerts.count("\(cause.rawValue).\(bundleID)", at: parts.clock.elapsed()) else {
                return
            }
            parts.logger.error(
                "Submissions wait for our side to be mended",
                metadata: [
                    "cause": "\(cause.rawValue)", "detail": "\(detail)", "bundleId": "\(bundleID)",
                    "submissionId": "\(admitted.read.claimant.submissionID)", "tries": "\(count)",
                ])
        case .verified, .rejected: break
        }
    }

    /// - Returns: false when the worker stops or the task is cancelled before the time is over.
    func pause(for delay: Duration) async -> Bool {
        await parts.pause(for: delay)
    }
}
