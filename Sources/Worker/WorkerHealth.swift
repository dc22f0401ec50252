import Configuration
import Contract
public import HTTPServer
import Metrics
import Scheduling
import Synchronization

/// Serves `/livez`, `/readyz` and `/metrics` over plain HTTP/1.1.
///
/// A worker is alive while its core, its checks and its consumer show signs of life; else it is restarted. It is ready
/// while it is alive, its ledger answers and its group has it as a member. Apple's outage makes it neither: a restart or
/// a halted rollout would mend nothing.
final class WorkerHealth: Sendable {
    private let server: ProbeServer
    private let drivers: Watched

    private final class Watched: Sendable {
        let activity = Mutex<CoreActivity?>(nil)
    }

    /// Serves from now on; the worker is alive, and not ready before ``watch(_:)``.
    init(_ bind: HostAndPort, registry: PrometheusRegistry) throws(WorkerFailure) {
        let drivers = Watched()
        self.drivers = drivers
        registry.observe(WorkerMetrics.ready) {
            drivers.activity.withLock { $0.map { $0.hindrance(at: .now) == nil } ?? false } ? 1 : 0
        }
        do throws(ServerError) {
            server = try ProbeServer(host: bind.host, port: bind.port) { head in
                Self.reply(to: head, drivers.activity.withLock { $0 }, registry)
            }
        } catch {
            throw WorkerFailure(error, of: "health and metrics", at: "GRANTOR_HTTP_BIND (http.bind in the file)")
        }
    }

    func watch(_ activity: CoreActivity) { drivers.activity.withLock { $0 = activity } }

    func stop() { server.stop() }

    private static func reply(
        to head: RequestHead, _ activity: CoreActivity?, _ registry: PrometheusRegistry
    ) -> Reply {
        guard head.method == "GET" || head.method == "HEAD" else {
            return Reply(status: 405, fields: [HeaderField("allow", "GET, HEAD")])
        }
        switch head.path {
        case "/livez":
            let silent = activity?.silent(at: .now)
            return report(silent == nil, silent.map { "\($0) shows no sign of life." } ?? "The worker's threads live.")
        case "/readyz":
            guard let activity else { return report(false, "The ledger has not answered yet.") }
            let hindrance = activity.hindrance(at: .now)
            return report(hindrance == nil, hindrance ?? "The worker is a member of its group, and its ledger answers.")
        case "/metrics":
            return Reply(status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", text: registry.render())
        default: return Reply(status: 404, contentType: "text/plain", text: "There are /livez, /readyz and /metrics.\n")
        }
    }

    private static func report(_ isGood: Bool, _ detail: String) -> Reply {
        var json = JSONObjectWriter()
        json.member("status", isGood ? "ok" : "failing")
        json.member("detail", detail)
        return Reply(
            status: isGood ? 200 : 503, contentType: "application/json",
            text: String(decoding: json.finished(), as: UTF8.self) + "\n")
    }
}

extension WorkerFailure {
    /// - Parameters:
    ///   - what: is served.
    ///   - setting: names the place.
    public init(_ error: ServerError, of what: String, at setting: String) {
        let detail =
            "\(what): \(error); \(setting) says where, and each worker of a host needs a place of its own"
        self = error.mayPass ? .failed(detail) : .configuration(detail)
    }
}
