import AppStore
import Configuration
import Contract
import Fulfilment
import Processing

/// The content of ``Processing/AppsSnapshot``: the part of the apps file that checkers and HTTP need.
struct VerificationParts: Sendable {
    let checker: LocalChecker
    let verifiers: SignatureVerifiers
    /// Apps with a fulfilment service.
    let services: [BundleID: FulfilmentRoute]
}

extension AppsSnapshot {
    /// The worker makes no others. Without the apps file nothing could be decided.
    var parts: VerificationParts {
        guard let parts = content as? VerificationParts else { preconditionFailure("no snapshot of the apps file") }
        return parts
    }
}

/// Makes snapshots of the apps file, each with a version of its own.
struct SnapshotMaker: Sendable {
    let verifiers: SignatureVerifiers
    /// Apps that were configured since the worker started. If one of them is missing from the apps file, that is a
    /// mistake. The ledger adds the apps that it knows when a failure is written.
    private(set) var known: Set<BundleID> = []

    init(verifiers: SignatureVerifiers) { self.verifiers = verifiers }

    /// Apple's published limits of calls a second to one app's App Store Server API: 50, and 5 in the sandbox. A tenth
    /// of each stays unused, because several workers' seconds do not begin together.
    static let callsPerSecond: [Environment: Double] = [.production: 45, .sandbox: 4.5]

    mutating func next(_ apps: ConfiguredApps, version: Int) -> AppsSnapshot {
        let all = apps.all.map { $0.makeRules() }
        known.formUnion(all.map(\.app.bundleID))
        var endpoints: [Endpoint: EndpointLimit] = [:]
        for (rules, app) in zip(all, apps.all) {
            for endpoint in rules.endpoints {
                var rate: Double?
                if endpoint.service == .serverAPI, let perSecond = Self.callsPerSecond[endpoint.environment] {
                    rate = perSecond * (app.serverAPI?.share ?? 1)
                }
                endpoints[endpoint] = EndpointLimit(endpoint: endpoint, rate: rate)
            }
        }
        var services: [BundleID: FulfilmentRoute] = [:]
        for app in apps.all { services[app.app.bundleID] = app.fulfilment.map { FulfilmentRoute($0) } }
        return AppsSnapshot(
            version: version, endpoints: endpoints.values.sorted { $0.endpoint < $1.endpoint },
            services: services.sorted { $0.key < $1.key }.map { ServiceLimit($0, calls: $1.service.mostCalls) },
            content: VerificationParts(
                checker: LocalChecker(apps: all, verifiers: verifiers, known: known), verifiers: verifiers,
                services: services))
    }
}
