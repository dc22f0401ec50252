import Fulfillment
import Kafka
import Ledger
import Logging
import ServiceLifecycle

/// The worker as a service: it waits for its ledger, then works. A graceful shutdown becomes a stop in order of either.
struct WorkerService: Service {
    let plan: WorkerPlan
    let ledger: LedgerSettings
    /// Told of the pipeline once there is one.
    let health: WorkerHealth
    let logger: Logger

    func run() async throws {
        let wait = LedgerWait(
            open: { () async throws(LedgerError) in
                try await OpenLedger(ledger, migratingFile: true, logger: logger)
            },
            pause: Self.pause, unit: { .random(in: 0..<1) }, logger: logger)
        guard let opened = try await wait.opened() else { return }
        do {
            try await work(on: opened)
        } catch {
            await close(opened)
            throw error
        }
        await close(opened)
    }

    private func work(on opened: OpenLedger) async throws {
        let worker = try AssembledWorker(plan: plan, ledger: opened.ledger, logger: logger)
        health.watch(worker.pipeline)
        // While the consumer joins its group; nothing is read before `run`.
        await emptyLedger(opened.ledger).report(pause: Self.pause, logger)
        try await withGracefulShutdownHandler {
            try await worker.run()
        } onGracefulShutdown: {
            worker.stop()
        }
    }

    private func emptyLedger(_ ledger: any LedgerStore & LedgerReader) -> EmptyLedger {
        EmptyLedger(ledger: ledger) { limit async throws(KafkaError) in
            try await plan.kafka.partitionsWithOffsets(within: limit, logger: logger)
        }
    }

    private func close(_ opened: OpenLedger) async {
        do throws(LedgerError) {
            try await opened.close()
        } catch {
            // All that was settled is on stable storage; how the worker ends is not decided here.
            logger.warning("The ledger could not be closed", metadata: ["cause": "\(error)"])
        }
    }

    /// - Returns: false if a graceful shutdown was asked for before the time was over.
    private static func pause(for delay: Duration) async -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await SystemClock().sleep(for: delay) }
            return true
        } catch {
            return false
        }
    }
}
