import Fulfillment
import Synchronization

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
final class WorkerHealth: HealthState {
    private let pipeline = Mutex<Pipeline?>(nil)

    /// Tells of this pipeline from now on; before, the worker waits for its ledger.
    func watch(_ pipeline: Pipeline) {
        self.pipeline.withLock { $0 = pipeline }
    }

    private var status: PipelineStatus? { pipeline.withLock { $0 }?.status }

    func liveness() -> [HealthCheck] {
        [
            HealthCheck("process", passed: true),
            HealthCheck("consumer", passed: status?.sourceIsAlive ?? true),
        ]
    }

    func readiness() -> [HealthCheck] {
        let status = status
        return [
            HealthCheck("running", passed: status.map { !$0.isStopping } ?? true),
            HealthCheck("partitions_assigned", passed: status.map { !$0.partitions.isEmpty } ?? false),
            HealthCheck("ledger", passed: status?.ledgerAnswers ?? false),
            HealthCheck("app_store", passed: status.map { !$0.appleIsAway } ?? true),
        ]
    }
}
