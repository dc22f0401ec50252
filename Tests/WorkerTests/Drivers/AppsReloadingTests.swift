import AppStore
import Configuration
import Contract
import Foundation
import Logging
import Metrics
import Processing
import Scheduling
import Synchronization
import Testing

@testable import Worker

@Suite("Reading the apps file again")
struct AppsReloadingTests {
    private final class Lines: LogHandler {
        private let lines = Mutex<[String]>([])

        func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
            let detail = metadata["refused_seconds"] ?? metadata["missing"]
            lines.withLock { $0.append("\(level) \(detail?.description ?? "")") }
        }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    private let file = FileManager.default.temporaryDirectory.appending(path: "apps-\(UUID().uuidString).yaml")
    private let registry = PrometheusRegistry()
    private let lines = Lines()
    private let start = Instant(nanoseconds: 0)

    private func write(_ text: String) throws { try text.write(to: file, atomically: true, encoding: .utf8) }

    private func reloading() throws -> AppsReloading {
        let logger = Logger(label: "test", handler: lines)
        return AppsReloading(
            file: file.path, nil, SnapshotMaker(verifiers: SignatureVerifiers(roots: try TrustedRoots.apple())),
            logger: logger,
            alerts: AlertLog(logger: logger, metrics: WorkerMetrics(registry), topics: [:]))
    }

    private func shows(_ line: String) -> Bool { registry.render().contains(line + "\n") }

    @Test("says that a file is refused at each order, every ten minutes, and once that it can be used again")
    func refused() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        try write("apps: []\n")
        var apps = try reloading()
        for _ in 0..<2 {
            let snapshot = apps.reload(at: start)
            #expect(snapshot == nil)
            #expect(lines.take() == ["error "])
        }
        #expect(shows("grantor_apps_file_reload_successful 0"))
        #expect(shows(#"grantor_alerts_total{kind="apps_file_refused"} 2"#))
        #expect(apps.nextMoment == start + .seconds(600))
        apps.remind(at: start + .seconds(599))
        #expect(lines.take().isEmpty)
        apps.remind(at: start + .seconds(600))
        #expect(lines.take() == ["error "])
        try write("apps: [{bundleId: com.example.game, sandbox: {policy: reject}, products: any, receipts: local}]\n")
        let snapshot = apps.reload(at: start + .seconds(700))
        #expect(snapshot?.version == 4)
        #expect(lines.take() == ["notice ", "notice 700"])
        #expect(shows("grantor_apps_file_reload_successful 1") && apps.nextMoment == nil)
    }

    @Test("names what a file lacks that the former one had: apps, services and products, a line for each kind")
    func shrunken() throws {
        let secret = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID().uuidString)")
        defer { for url in [file, secret] { try? FileManager.default.removeItem(at: url) } }
        try "0123456789abcdef0123".write(to: secret, atomically: true, encoding: .utf8)
        let service = "fulfillment: {url: 'https://127.0.0.1/grants', secretFiles: ['\(secret.path)']}, "
        func app(_ name: String, _ more: String, _ products: [String]) -> String {
            let listed = products.map { "{id: \($0), type: consumable, items: [{item: gems, quantity: 1}]}" }
            return "{bundleId: \(name), sandbox: {policy: reject}, receipts: local, \(more)"
                + "products: [\(listed.joined(separator: ", "))]}"
        }
        let many = (10..<35).map { "p\($0)" }
        let (b, c) = (app("com.example.b", service, ["gems"]), app("com.example.c", "", ["gems"]))
        try write("apps: [\(app("com.example.a", service, ["gems"] + many)), \(b), \(c)]")
        var apps = try reloading()
        _ = apps.reload(at: start)
        #expect(lines.take() == ["notice "])
        try write("apps: [\(app("com.example.a", "", ["gems", "more"])), \(b)]")
        _ = apps.reload(at: start)
        let named = many.prefix(AppsReloading.mostNames).map { "com.example.a: \($0)" }.joined(separator: ", ")
        #expect(
            lines.take() == [
                "notice ", "warning com.example.c", "warning com.example.a", "warning \(named), and 5 more",
            ])
        _ = apps.reload(at: start)
        #expect(
            lines.take() == ["notice ", "warning com.example.c"], "told once; a missing app is one until it is back")
    }
}
