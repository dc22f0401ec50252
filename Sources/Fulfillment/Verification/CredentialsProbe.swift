import AppStore
import Purchases

/// Proves an app's key of the App Store Server API with a real call.
public struct CredentialsProbe: Sendable {
    /// What came of it.
    public struct Finding: Hashable, Sendable {
        public let isGood: Bool
        /// A few words for people.
        public let detail: String
    }

    private let endpoint: any AppStoreEndpoint
    private let clock: any WorkerClock

    /// A probe that asks this endpoint.
    public init(endpoint: any AppStoreEndpoint, clock: any WorkerClock) {
        self.endpoint = endpoint
        self.clock = clock
    }

    /// Asks for a transaction that nobody has: Apple says so to whoever has the right key, and 401 to everybody else.
    ///
    /// Production says 401 to apps that were never released, too, so after that the sandbox is asked.
    public func finding(on app: RegisteredApp) async -> Finding {
        guard let access = app.serverAPI, let token = access.mint.token(now: clock.now()) else {
            return Finding(isGood: false, detail: "no token can be signed with the key")
        }
        let production = await answer(.production, token)
        guard production == .refused else { return production.finding(in: .production) }
        switch await answer(.sandbox, token) {
        case .accepted:
            return Finding(isGood: true, detail: "accepted by the sandbox; production refuses unreleased apps")
        case .refused:
            return Finding(isGood: false, detail: "refused (HTTP 401): issuer, key id, key or bundle id is wrong")
        case let other: return other.finding(in: .sandbox)
        }
    }

    private enum Answer: Hashable {
        case accepted
        case refused
        case other(String)

        func finding(in environment: Environment) -> Finding {
            switch self {
            case .accepted: Finding(isGood: true, detail: "key accepted by \(environment.rawValue)")
            case .refused: Finding(isGood: false, detail: "key refused by \(environment.rawValue)")
            case .other(let detail): Finding(isGood: false, detail: "\(environment.rawValue): \(detail)")
            }
        }
    }

    private func answer(_ environment: Environment, _ token: BearerToken) async -> Answer {
        switch await endpoint.serverAPI(environment, .transaction("0"), bearer: token) {
        case .response(401, _, _): .refused
        // Not found, or no id of Apple's: either way the key was looked at first.
        case .response(404, _, _), .response(400, _, _), .response(200, _, _): .accepted
        case .response(let status, _, _): .other("answers with HTTP \(status)")
        case .failed(let failure): .other("no answer: \(failure.rawValue)")
        }
    }
}
