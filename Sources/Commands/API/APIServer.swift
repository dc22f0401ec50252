import Configuration
import HTTPServer
import Ledger
import Logging
import Metrics
import Worker

/// Serves the read-only API for support and backends, beside a worker and apart from its health and metrics.
final class APIServer {
    private let server: ProbeServer

    var port: Int { server.port }

    /// Serves from now on.
    /// - Parameter ledger: The worker's own driver, so that no answer comes from a database that the worker has left.
    /// - Throws: ``WorkerFailure`` for an address that cannot be had.
    init(
        _ settings: APISettings, ledger: LedgerDriver, logger: Logger, registry: PrometheusRegistry
    ) throws(WorkerFailure) {
        let metrics = APIMetrics(registry)
        do throws(ServerError) {
            server = try ProbeServer(host: settings.bind.host, port: settings.bind.port) {
                APIHandler(tokensFile: settings.tokensFile, logger: logger, metrics: metrics) {
                    () throws(LedgerError) in
                    try ledger.openReader(within: APIHandler.readLimit)
                }
            }
        } catch {
            throw WorkerFailure(error, of: "the read-only API", at: "GRANTOR_API_BIND (api.bind in the file)")
        }
        logger.info(
            "The read-only API is served",
            metadata: ["host": .text(settings.bind.host), "port": .number(Int(server.port))])
    }

    func stop() { server.stop() }
}
