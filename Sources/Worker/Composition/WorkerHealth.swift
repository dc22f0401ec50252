import Fulfillment

/// Health before there is a worker.
struct NothingYet: HealthState {
    func liveness() -> [HealthCheck] { [] }
    func readiness() -> [HealthCheck] { [] }
}

/// What the health endpoints tell of a worker.
///
/// Liveness asks whether a restart would help; readiness whether the worker does its work now. A broker or Apple that
/// is away makes no worker dead: restarting mends neither. A consumer that has stopped working does: librdkafka has had
/// faults that leave it hanging.
struct WorkerHealth: HealthState {
    private let pipeline: Pipeline

    init(_ pipeline: Pipeline) {
        self.pipeline = pipeline
    }

    func liveness() -> [HealthCheck] {
        [
            HealthCheck("process", passed: true),
            HealthCheck("consumer", passed: pipeline.status.sourceIsAlive),
        ]
    }

    func readiness() -> [HealthCheck] {
        let status = pipeline.status
        return [
            HealthCheck("running", passed: !status.isStopping),
            HealthCheck("partitions_assigned", passed: !status.partitions.isEmpty),
            HealthCheck("ledger", passed: status.ledgerAnswers),
            HealthCheck("app_store", passed: !status.appleIsAway),
        ]
    }
}
