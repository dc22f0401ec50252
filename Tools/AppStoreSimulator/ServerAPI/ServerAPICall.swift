/// A call to the App Store Server API, by its path.
struct ServerAPICall: Equatable, Sendable {
    /// The endpoints that are simulated; each has a rate limit of its own.
    enum Endpoint: String, Hashable, Sendable, CaseIterable {
        case transaction = "/inApps/v1/transactions/"
        /// Get Transaction History, version 2.
        case history = "/inApps/v2/history/"
        case subscriptions = "/inApps/v1/subscriptions/"
    }

    let endpoint: Endpoint
    /// As it stands in the path.
    let id: String

    /// Nil for a path that is not simulated.
    init?(path: String) {
        guard let endpoint = Endpoint.allCases.first(where: { path.hasPrefix($0.rawValue) }) else { return nil }
        let id = path.dropFirst(endpoint.rawValue.count)
        guard !id.isEmpty, !id.contains("/") else { return nil }
        self.endpoint = endpoint
        self.id = String(id)
    }

    /// Whether the id has a transaction id's form.
    var isWellFormed: Bool {
        (1...20).contains(id.utf8.count) && id.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
