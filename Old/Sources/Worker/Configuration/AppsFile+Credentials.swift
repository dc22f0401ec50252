import AppStore

extension AppsFile {
    static func sharedSecrets(_ entry: YAMLMapping, file: String) throws(ConfigurationError) -> [SecretText] {
        guard let paths = try entry.texts("sharedSecretFiles") else { return [] }
        guard (1...maxSharedSecrets).contains(paths.count) else {
            let requirement = "a list of 1 to \(maxSharedSecrets) files, or left out"
            throw .invalidMember(entry.place("sharedSecretFiles"), requirement: requirement)
        }
        var secrets: [SecretText] = []
        for (index, path) in paths.enumerated() {
            let secret = try secret(path, besides: file, namedBy: entry.place("sharedSecretFiles", at: index))
            guard !secret.contains(where: { $0.isWhitespace || $0.isNewline }) else {
                let requirement = "files that hold one shared secret each, on one line without spaces"
                throw .invalidMember(entry.place("sharedSecretFiles"), requirement: requirement)
            }
            secrets.append(SecretText(secret))
        }
        return secrets
    }

    static func serverAPI(_ entry: YAMLMapping, file: String) throws(ConfigurationError) -> ServerAPICredentials? {
        guard let credentials = try entry.mapping("serverAPI") else { return nil }
        let names = ["issuerId", "keyId", "privateKeyFile"]
        try credentials.allow(names + ["share"])
        var texts: [String] = []
        for name in names {
            guard let text = try credentials.text(name) else {
                throw .invalidMember(credentials.place(name), requirement: "set")
            }
            texts.append(text)
        }
        let key = try secret(texts[2], besides: file, namedBy: credentials.place("privateKeyFile"))
        do throws(ServerAPICredentialsError) {
            return try ServerAPICredentials(issuerID: texts[0], keyID: texts[1], privateKeyPEM: key)
        } catch {
            switch error {
            case .wrongIssuerID:
                throw .invalidMember(credentials.place("issuerId"), requirement: "an id as App Store Connect shows it")
            case .wrongKeyID:
                throw .invalidMember(credentials.place("keyId"), requirement: "an id as App Store Connect shows it")
            case .notPEM, .notPrivateKey, .notP256:
                throw .invalidMember(
                    credentials.place("privateKeyFile"),
                    requirement: "a PEM file with a private key on P-256 (.p8)")
            }
        }
    }

    static func serverAPIShare(_ entry: YAMLMapping) throws(ConfigurationError) -> Double {
        guard let credentials = try entry.mapping("serverAPI"), let text = try credentials.text("share") else {
            return 1
        }
        guard let share = Double(text), share > 0, share <= 1 else {
            throw .invalidMember(credentials.place("share"), requirement: "a number above 0 and at most 1")
        }
        return share
    }

    /// A secret from a file beside the apps file.
    static func secret(
        _ path: String, besides file: String, namedBy place: ConfigurationError.Place
    ) throws(ConfigurationError) -> String {
        do throws(ConfigurationError) {
            return try SecretFile.read(TextFile.resolve(path, besides: file), namedBy: .member(place))
        } catch {
            // Somebody may have written the secret itself where its path belongs, so that what names no file is shown only if
            // it begins with a folder that is there.
            guard case .file(_, .notThere, _) = error, !TextFile.beginsWithFolder(path, besides: file) else {
                throw error
            }
            throw .invalidMember(place, requirement: "the path of a file, and there is no such file")
        }
    }
}
