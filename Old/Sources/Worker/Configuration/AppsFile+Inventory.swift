import Fulfillment
import HTTPTransport

extension AppsFile {
    /// Shorter secrets can be guessed from one signature.
    static let leastSigningSecretBytes = 16
    static let maxInventoryInFlight = 1000
    static let inventoryTimeouts = Duration.milliseconds(100)...Duration.seconds(60)

    /// An app's `fulfillment`: the inventory service that is told of its grants.
    static func inventory(_ entry: YAMLMapping, file: String) throws(ConfigurationError) -> InventoryService? {
        guard let service = try entry.mapping("fulfillment") else { return nil }
        try service.allow(["url", "secretFiles", "timeout", "maxInFlight", "caFile"])
        return InventoryService(
            url: try url(service), secrets: try signingSecrets(service, file: file), timeout: try timeout(service),
            maxInFlight: try maxInFlight(service),
            caFile: try caFile(service, file: file))
    }

    private static func url(_ service: YAMLMapping) throws(ConfigurationError) -> String {
        guard let url = try service.text("url") else { throw .invalidMember(service.place("url"), requirement: "set") }
        do throws(HTTPTransportError) {
            try HTTPTransportConfiguration.inventory(caFile: nil, maxConnections: 1).check(url: url)
        } catch {
            throw .invalidMember(service.place("url"), requirement: requiredURL)
        }
        // What stands there is often a secret, and URLs are printed.
        guard !url.contains("?") else { throw .invalidMember(service.place("url"), requirement: requiredURL) }
        return url
    }

    private static let requiredURL = "an https URL without user name, password and query; http only to localhost"

    private static func caFile(_ service: YAMLMapping, file: String) throws(ConfigurationError) -> String? {
        guard let path = try service.text("caFile") else { return nil }
        let place = service.place("caFile")
        let resolved = TextFile.resolve(path, besides: file)
        let text = try TextFile.read(
            resolved, maxBytes: ConfigurationValues.maxCertificateBytes, namedBy: .member(place))
        guard text.contains(ConfigurationValues.certificateMark) else {
            throw .invalidMember(place, requirement: "a PEM file with at least one certificate")
        }
        return resolved
    }

    private static func signingSecrets(
        _ service: YAMLMapping, file: String
    ) throws(ConfigurationError) -> [SigningSecret] {
        let place = service.place("secretFiles")
        guard let paths = try service.texts("secretFiles"), (1...InventoryService.maxSecrets).contains(paths.count)
        else { throw .invalidMember(place, requirement: "a list of 1 or \(InventoryService.maxSecrets) files") }
        var secrets: [SigningSecret] = []
        for (index, path) in paths.enumerated() {
            let text = try secret(path, besides: file, namedBy: service.place("secretFiles", at: index))
            guard text.utf8.count >= leastSigningSecretBytes, !text.contains(where: \.isNewline) else {
                let requirement =
                    "files that hold one secret each, on one line of \(leastSigningSecretBytes) bytes or more"
                throw .invalidMember(place, requirement: requirement)
            }
            secrets.append(SigningSecret(text))
        }
        return secrets
    }

    private static func timeout(_ service: YAMLMapping) throws(ConfigurationError) -> Duration {
        guard let text = try service.text("timeout") else { return InventoryService.usualTimeout }
        guard let timeout = DurationText.parse(text), inventoryTimeouts.contains(timeout) else {
            throw .invalidMember(service.place("timeout"), requirement: "a duration from 100ms to 60s")
        }
        return timeout
    }

    private static func maxInFlight(_ service: YAMLMapping) throws(ConfigurationError) -> Int {
        guard let text = try service.text("maxInFlight") else { return InventoryService.usualInFlight }
        guard let number = Int(text), (1...maxInventoryInFlight).contains(number) else {
            throw .invalidMember(
                service.place("maxInFlight"), requirement: "a whole number from 1 to \(maxInventoryInFlight)")
        }
        return number
    }
}
