import Logging

@testable import Fulfillment

extension PipelineParts {
    /// What a stage is given that is tried without a pipeline around it.
    static func alone(_ clock: any WorkerClock, _ logger: Logger) -> PipelineParts {
        let metrics = PipelineMetrics()
        return PipelineParts(
            configuration: PipelineConfiguration(), clock: clock, randomness: FixedRandomness(), metrics: metrics,
            logger: logger, stopping: Signal(), window: WindowGate(Window(maxCount: 1000, maxBytes: 1 << 20)),
            ledgerAnswers: Flag(true),
            apple: AppleAvailability(
                targets: [], policy: AvailabilityPolicy(), mostCalls: 1, clock: clock, randomness: FixedRandomness(),
                metrics: metrics.availability, logger: logger),
            progress: ProgressTracker())
    }
}
