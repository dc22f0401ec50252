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
        guard let paths = try service.texts("secretFiles"), (1...Self.maxSigningSecrets).contains(paths.count) else {
            throw .refused(
                service.place("secretFiles"), requirement: "a list of 1 or \(Self.maxSigningSecrets) files")
        }
        var secrets: [SecretText] = []
        for (index, path) in paths.enumerated() {
            let place = service.place("secretFiles", at: index)
            let text = try SecretFile.read(path, besides: file, namedBy: place)
            guard text.utf8.count >= Self.leastSigningSecretBytes, !text.contains(where: \.isNewline) else {
                throw .refused(
                    place,
                    requirement: "a file that holds one secret, on one line of \(Self.leastSigningSecretBytes) bytes "
                        + "or more")
            }
            secrets.append(SecretText(text))
        }
        return secrets
    }
}
