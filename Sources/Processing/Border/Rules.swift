public import Contract

/// The apps file as it is at one time: an immutable snapshot that the core attaches to checks and attempts.
public struct Rules: Sendable {
    /// Counts the snapshots, from 1.
    public let version: Int
    /// Apple's endpoints that submissions of these apps may need.
    public let endpoints: [EndpointRules]
    /// Apps with a fulfilment service.
    public let services: [BundleID]
    /// What HTTP and checkers need; nothing that the core reads.
    public let content: any Sendable

    public init(version: Int, endpoints: [EndpointRules], services: [BundleID], content: any Sendable) {
        self.version = version
        self.endpoints = endpoints
        self.services = services
        self.content = content
    }
}

/// How much an endpoint may be asked.
public struct EndpointRules: Hashable, Sendable {
    public let endpoint: Endpoint
    /// Calls a second; nil where Apple names no limit.
    public let rate: Double?

    public init(endpoint: Endpoint, rate: Double? = nil) {
        self.endpoint = endpoint
        self.rate = rate
    }
}
