import ServiceLifecycle

/// The worker as a service: a graceful shutdown becomes a stop in order.
struct WorkerService: Service {
    let worker: AssembledWorker

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await worker.run()
        } onGracefulShutdown: {
            worker.stop()
        }
    }
}
