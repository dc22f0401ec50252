public import AppStore
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
    private let words: @Sendable (TransportFailure) -> String

    /// A probe that asks this endpoint.
    ///
    /// - Parameter words: says for people why there was no answer.
    public init(
        endpoint: any AppStoreEndpoint, clock: any WorkerClock, words: @escaping @Sendable (TransportFailure) -> String
    ) {
        self.endpoint = endpoint
        self.clock = clock
        self.words = words
    }

    /// Asks for a transaction that nobody has: Apple says so to whoever has the right key, and 401 to everybody else.
    ///
    /// Production says 401 to apps that were never released, too, so after that the sandbox is asked.
    public func finding(on app: RegisteredApp) async -> Finding {
        guard let access = app.serverAPI, let token = access.mint.token(now: clock.now()) else {
            return Finding(isGood: false, detail: "no token can be signed with the key")
        }
        let production = await ask(.production, token)
        guard production == .refused else { return finding(production, in: .production) }
        switch await ask(.sandbox, token) {
        case .accepted:
            return Finding(isGood: true, detail: "accepted by the sandbox; production refuses unreleased apps")
        case .refused:
            return Finding(isGood: false, detail: "refused (HTTP 401): issuer, key id, key or bundle id is wrong")
        case let other: return finding(other, in: .sandbox)
        }
    }

    private func finding(_ reading: KeyReading, in environment: Environment) -> Finding {
        switch reading {
        case .accepted: return Finding(isGood: true, detail: "key accepted by \(environment.rawValue)")
        case .refused: return Finding(isGood: false, detail: "key refused by \(environment.rawValue)")
        case .other(let status, let code):
            let error = code.map { ", error \($0)" } ?? ", without an error of Apple's"
            return Finding(isGood: false, detail: "\(environment.rawValue) answers with HTTP \(status)\(error)")
        case .failed(let failure):
            return Finding(isGood: false, detail: "\(environment.rawValue): no answer: \(words(failure))")
        }
    }

    private func ask(_ environment: Environment, _ token: BearerToken) async -> KeyReading {
        KeyReading(await endpoint.serverAPI(environment, .transaction("0"), bearer: token, isFresh: false))
    }
}
