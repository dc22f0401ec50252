import AppStore
import Configuration
import Contract
import Processing

/// Makes the core's rules of the apps file. Each reading is a snapshot with a version of its own.
struct RulesLoading: Sendable {
    let verifiers: SignatureVerifiers
    /// Apps that the ledger has granted for, or that were configured since the worker started. One of them that is
    /// missing from the apps file is missing by mistake.
    private(set) var known: Set<BundleID>

    /// Apple's published limits of calls a second to one app's App Store Server API: 50, and 5 in the sandbox. A tenth
    /// of each stays unused, because several workers' seconds do not begin together.
    static let callsPerSecond: [Environment: Double] = [.production: 45, .sandbox: 4.5]

    mutating func rules(_ apps: ConfiguredApps, version: Int) -> Rules {
        let all = apps.all.map { $0.makeRules() }
        known.formUnion(all.map(\.app.bundleID))
        var endpoints: [Endpoint: EndpointRules] = [:]
        for (rules, app) in zip(all, apps.all) {
            for endpoint in rules.endpoints {
                var rate: Double?
                if endpoint.service == .serverAPI, let perSecond = Self.callsPerSecond[endpoint.environment] {
                    rate = perSecond * (app.serverAPI?.share ?? 1)
                }
                endpoints[endpoint] = EndpointRules(endpoint: endpoint, rate: rate)
            }
        }
        return Rules(
            version: version, endpoints: endpoints.values.sorted { $0.endpoint < $1.endpoint },
            services: [],
            content: VerificationRules(
                checker: LocalChecker(apps: all, verifiers: verifiers, known: known), verifiers: verifiers, services: []
            ))
    }
}
