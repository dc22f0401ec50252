import Purchases

/// Apple's two services. The raw values label metrics and logs.
enum AppleService: String, Hashable, Sendable, CaseIterable {
    case verifyReceipt, serverAPI
}

/// Where a call goes and, where that matters, with whose key: what fails together and is waited for together.
///
/// verifyReceipt answers 200 whatever it thinks of a shared secret, so there the app does not matter. The App Store
/// Server API knows each app by its key, limits each by itself, and may fail for one of them alone.
struct CallTarget: Hashable, Sendable {
    let service: AppleService
    let environment: Environment
    /// Nil where all apps share a fate.
    let bundleID: BundleID?

    /// The deprecated endpoint of an environment.
    static func verifyReceipt(_ environment: Environment) -> CallTarget {
        CallTarget(service: .verifyReceipt, environment: environment, bundleID: nil)
    }

    /// The App Store Server API of an environment, as one app sees it.
    static func serverAPI(_ environment: Environment, _ bundleID: BundleID) -> CallTarget {
        CallTarget(service: .serverAPI, environment: environment, bundleID: bundleID)
    }

    /// All targets that calls for these apps can go to, two and two more for each app: their number is that of
    /// configuration, whatever submissions say.
    static func all(for apps: AppRegistry) -> [CallTarget] {
        Environment.allCases.map(verifyReceipt)
            + apps.all.filter(\.hasServerAPIKey).flatMap { registered in
                Environment.allCases.map { serverAPI($0, registered.app.bundleID) }
            }
    }
}
