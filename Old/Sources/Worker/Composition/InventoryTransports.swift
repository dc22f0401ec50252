import Fulfillment
import HTTPTransport
import Logging
import Metrics
import Purchases

/// The connections to inventory services: services that trust the same authorities share a transport.
struct InventoryTransports: Sendable {
    private struct Trust {
        var apps: [BundleID] = []
        var connections = 0
        var slowest: Duration = .zero
    }

    private let byApp: [BundleID: HTTPTransport]
    private let all: [HTTPTransport]

    /// Starts them; nothing is connected yet, and without a service there are none.
    init(_ apps: AppRegistry, logger: Logger) throws(HTTPTransportError) {
        var trusts: [String?: Trust] = [:]
        for registered in apps.all {
            guard let service = registered.inventory else { continue }
            var trust = trusts[service.caFile] ?? Trust()
            trust.apps.append(registered.app.bundleID)
            trust.connections += service.maxInFlight
            trust.slowest = max(trust.slowest, service.timeout)
            trusts[service.caFile] = trust
        }
        var byApp: [BundleID: HTTPTransport] = [:]
        var all: [HTTPTransport] = []
        for (caFile, trust) in trusts {
            let transport = try HTTPTransport(
                configuration: .inventory(
                    caFile: caFile, maxConnections: trust.connections, slowest: trust.slowest),
                logger: logger.with(label: "inventory"),
                // Calls are measured by the deliveries; these names are those of the connections to Apple.
                metricsFactory: NOOPMetricsHandler.instance)
            all.append(transport)
            for bundleID in trust.apps { byApp[bundleID] = transport }
        }
        self.byApp = byApp
        self.all = all
    }

    /// The way to the services.
    var endpoint: HTTPInventory { HTTPInventory(byApp) }

    func shutdown() async {
        for transport in all { await transport.shutdown() }
    }
}

extension HTTPTransportConfiguration {
    /// How connections to inventory services are made.
    static func inventory(
        caFile: String?, maxConnections: Int, slowest: Duration = .zero
    ) -> HTTPTransportConfiguration {
        var http = HTTPTransportConfiguration()
        http.maxConnections = min(max(1, maxConnections), 100_000)
        http.maxResponseBytes = DeliveryReply.maxBytes
        http.plainLoopback = true
        http.caFile = caFile
        // Waiting for the first byte counts as slow, and a service may take as long as the whole call may. Whole seconds.
        http.minimumSpeedWindow = max(http.minimumSpeedWindow, .seconds(slowest.components.seconds + 1))
        return http
    }
}
