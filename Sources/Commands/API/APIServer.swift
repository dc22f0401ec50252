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
    /// - Throws: ``WorkerFailure`` for an address that cannot be had, and a ledger's URL that makes no sense.
    init(
        _ settings: APISettings, ledger: LedgerSettings, logger: Logger, registry: PrometheusRegistry
    ) throws(WorkerFailure) {
        let driver: LedgerDriver
        do throws(LedgerError) { driver = try LedgerDriver(ledger) } catch { throw .ledger("\(error)") }
        let metrics = APIMetrics(registry)
        do throws(ServerError) {
            server = try ProbeServer(host: settings.bind.host, port: settings.bind.port) {
                APIHandler(tokensFile: settings.tokensFile, logger: logger, metrics: metrics) {
                    () throws(LedgerError) in
                    try driver.openReader(within: APIHandler.readLimit)
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
