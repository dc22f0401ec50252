public import AppStore
import CommandParser
public import Contract

/// A platform's own service that is told of each of an app's grants before its event is published.
public struct InventoryService: Hashable, Sendable {
    /// `https`, or `http` to this host.
    public let url: String
    /// Each signs every call: one, or two while they are replaced.
    public let secrets: [SecretText]
    public let timeout: Duration
    public let maxCalls: Int
    /// The authorities that the service's certificate may come from; nil for the system's.
    public let caFile: CertificateFile?
}

extension AppReading {
    /// Shorter secrets can be guessed from one signature.
    static let leastSigningSecretBytes = 16
    static let maxSigningSecrets = 2

    /// An app's `fulfillment`: the inventory service that is told of its grants.
    func inventory() throws(ConfigurationError) -> InventoryService? {
        guard let service = try entry.mapping("fulfillment") else { return nil }
        try service.allow(["url", "secretFiles", "timeout", "maxCalls", "caFile"])
        let timeouts = Duration.milliseconds(100)...Duration.seconds(60)
        return InventoryService(
            url: try service.required("url", .serviceURL), secrets: try signingSecrets(service),
            timeout: try service.value("timeout", .duration(timeouts)) ?? .seconds(5),
            maxCalls: try service.value("maxCalls", .integer(1...1000)) ?? 50, caFile: try certificates(service))
    }

    private func certificates(_ service: YAMLMapping) throws(ConfigurationError) -> CertificateFile? {
        guard let path = try service.text("caFile") else { return nil }
        return try CertificateFile.read(TextFile.resolve(path, besides: file), namedBy: service.place("caFile"))
    }

    private func signingSecrets(_ service: YAMLMapping) throws(ConfigurationError) -> [SecretText] {
        try secrets(
            service, "secretFiles", 1...Self.maxSigningSecrets, "a list of 1 or \(Self.maxSigningSecrets) files",
            each: "a file that holds one secret, on one line of \(Self.leastSigningSecretBytes) bytes or more"
        ) { $0.utf8.count >= Self.leastSigningSecretBytes && !$0.contains(where: \.isNewline) }.map(SecretText.init)
    }
}

extension ValueForm<String> {
    /// A URL of a service of the operator's own: `https`, or `http` to this host, where nobody can listen in.
    static var serviceURL: Self {
        ValueForm("an https URL without user name, password and query; http only to localhost") { text in
            guard let parts = URLParts(text) else { return nil }
            let isHere = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(parts.host)
            return parts.scheme == "https" || parts.scheme == "http" && isHere ? text : nil
        }
    }
}

