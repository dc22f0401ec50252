import AppStore

extension AppReading {
    static let maxSharedSecrets = 10
    /// A purchase can be refunded; a day later it is worth one call to know.
    static let usualConfirmationAge = Duration.seconds(24 * 3600)

    func sharedSecrets() throws(ConfigurationError) -> [SharedSecret] {
        guard let paths = try entry.texts("sharedSecretFiles") else { return [] }
        guard (1...Self.maxSharedSecrets).contains(paths.count) else {
            throw .refused(
                entry.place("sharedSecretFiles"),
                requirement: "a list of 1 to \(Self.maxSharedSecrets) files, or left out")
        }
        var secrets: [SharedSecret] = []
        for (index, path) in paths.enumerated() {
            let place = entry.place("sharedSecretFiles", at: index)
            let secret = try SecretFile.read(path, besides: file, namedBy: place)
            guard !secret.contains(where: \.isWhitespace) else {
                throw .refused(place, requirement: "a file that holds one shared secret, on one line without spaces")
            }
            secrets.append(SharedSecret(secret))
        }
        return secrets
    }

    func serverAPI() throws(ConfigurationError) -> ServerAPIAccess? {
        let confirmation = try entry.value("confirmSignedTransactionsOlderThan", .confirmationAge)
        guard let access = try entry.mapping("serverAPI") else {
            guard confirmation == nil else {
                throw .refused(
                    entry.place("confirmSignedTransactionsOlderThan"), requirement: "left out unless serverAPI is set")
            }
            return nil
        }
        try access.allow(["issuerId", "keyId", "privateKeyFile", "share"])
        return ServerAPIAccess(
            credentials: try credentials(access), share: try access.value("share", .share) ?? 1,
            confirmsSignedTransactionsOlderThan: confirmation ?? Self.usualConfirmationAge)
    }

    private func credentials(_ access: YAMLMapping) throws(ConfigurationError) -> ServerAPICredentials {
        let id = ValueForm<String>("an id as App Store Connect shows it") { $0 }
        let (issuerID, keyID) = (try access.required("issuerId", id), try access.required("keyId", id))
        let path = try access.required("privateKeyFile", .path)
        let key = try SecretFile.read(path, besides: file, namedBy: access.place("privateKeyFile"))
        do throws(ServerAPICredentialsError) {
            return try ServerAPICredentials(issuerID: issuerID, keyID: keyID, privateKeyPEM: key)
        } catch {
            switch error {
            case .wrongIssuerID: throw .refused(access.place("issuerId"), requirement: id.requirement)
            case .wrongKeyID: throw .refused(access.place("keyId"), requirement: id.requirement)
            case .notPEM, .notPrivateKey, .notP256:
                throw .refused(
                    access.place("privateKeyFile"), requirement: "a PEM file with a private key on P-256 (.p8)")
            }
        }
    }
}

extension ValueForm<Duration?> {
    /// A duration, or `never` as nil.
    fileprivate static var confirmationAge: Self {
        ValueForm("a duration with its unit, such as 90s, 15m or 24h, or never") { text in
            text == "never" ? .some(nil) : DurationText.parse(text).map { .some($0) }
        }
    }
}

extension ValueForm<Double> {
    fileprivate static var share: Self {
        ValueForm("a number above 0 and at most 1") { text in
            guard let share = Double(text), share > 0, share <= 1 else { return nil }
            return share
        }
    }
}
