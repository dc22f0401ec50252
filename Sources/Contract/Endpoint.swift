/// An endpoint of Apple's that submissions wait for: what has a gate of its own, and due rows of its own in `retries`.
public struct Endpoint: Hashable, Sendable, Comparable, CustomStringConvertible {
    public enum Service: String, Hashable, Sendable, CaseIterable {
        case verifyReceipt = "verify_receipt"
        case serverAPI = "server_api"
    }

    public let service: Service
    public let environment: Environment
    /// Whose calls it counts, in words that outlast a change of secrets: an app's bundle id where each app has a key of
    /// its own, empty where one limit is for all.
    public let key: String

    public init(_ service: Service, _ environment: Environment, key: String = "") {
        self.service = service
        self.environment = environment
        self.key = key
    }

    /// An endpoint as a column of the ledger has it; nil for the word of a later version.
    public init?(text: String) {
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let service = Service(rawValue: String(parts[0])),
            let environment = Environment(rawValue: String(parts[1]))
        else { return nil }
        self.init(service, environment, key: String(parts[2]))
    }

    /// The form of a column: `server_api/production/com.example.game`. It never changes.
    public var text: String { "\(service.rawValue)/\(environment.rawValue)/\(key)" }

    public static func < (left: Endpoint, right: Endpoint) -> Bool { left.text < right.text }

    public var description: String { text }
}
