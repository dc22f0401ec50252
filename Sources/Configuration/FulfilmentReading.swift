import CommandParser
import Fulfilment

extension AppReading {
    /// One secret, and the next one while the service learns to accept it.
    static let mostSigningSecrets = 2
    /// A shorter secret could be found by trying.
    static let leastSecretBytes = 16
    static let callTimeouts = Duration.seconds(1)...Duration.seconds(30)
    static let usualCallTimeout = Duration.seconds(5)
    static let callsAtOnce = 1...1000
    static let usualCallsAtOnce = 50

    /// The inventory service that hears of the app's grants; nil where only events say them.
    func fulfilment() throws(ConfigurationError) -> FulfilmentService? {
        guard let service = try entry.mapping("fulfillment") else { return nil }
        try service.allow(["url", "secretFiles", "timeout", "maxInFlight", "caFile", "ending"])
        var authorities: String?
        if let path = try service.value("caFile", .path) {
            authorities = try CertificateFile.read(
                TextFile.resolve(path, besides: file), namedBy: service.place("caFile")
            ).path
        }
        return FulfilmentService(
            url: try service.required("url", .httpsURL), secrets: try signingSecrets(service),
            timeout: try service.value("timeout", .duration(Self.callTimeouts)) ?? Self.usualCallTimeout,
            mostCalls: try service.value("maxInFlight", .integer(Self.callsAtOnce)) ?? Self.usualCallsAtOnce,
            caFile: authorities, isEnding: try service.value("ending", .truth) ?? false)
    }

    private func signingSecrets(_ service: YAMLMapping) throws(ConfigurationError) -> [SigningSecret] {
        guard let paths = try service.texts("secretFiles"), (1...Self.mostSigningSecrets).contains(paths.count) else {
            throw .refused(
                service.place("secretFiles"),
                requirement: "a list of one file, or of \(Self.mostSigningSecrets) while secrets are changed")
        }
        var secrets: [String] = []
        for (index, path) in paths.enumerated() {
            let place = service.place("secretFiles", at: index)
            let secret = try SecretFile.read(path, besides: file, namedBy: place)
            guard secret.utf8.count >= Self.leastSecretBytes, !secret.contains(where: \.isNewline) else {
                throw .refused(
                    place, requirement: "a file that holds one secret of \(Self.leastSecretBytes) bytes or more")
            }
            guard !secrets.contains(secret) else {
                throw .refused(place, requirement: "a file with another secret than the one before it")
            }
            secrets.append(secret)
        }
        return secrets.map { SigningSecret($0) }
    }
}
