/// Everything a worker is told, read and checked once, before anything starts. Stages are given their part of it.
struct WorkerConfiguration: Sendable {
    let kafka: KafkaSettings
    let ledger: LedgerSettings
    let apple: AppleSettings
    let verification: VerificationSettings
    let http: HTTPBind
    let log: LogSettings
    /// The apps file; nil where it is not set, see ``requiredAppsFile()``.
    let appsFile: String?
    private let values: ConfigurationValues

    /// Reads the environment, the file under it, and the files that these name, except the apps file.
    ///
    /// - Parameters:
    ///   - file: path of the YAML file; nil for none.
    ///   - environment: the process's variables; only those that begin with `GRANTOR_` count.
    static func load(
        file: String?, environment: [String: String]
    ) throws(ConfigurationError) -> WorkerConfiguration {
        let values = try ConfigurationValues.load(file: file, environment: environment)
        return try values.locating { () throws(ConfigurationError) in try WorkerConfiguration(values) }
    }

    init(_ values: ConfigurationValues) throws(ConfigurationError) {
        kafka = try KafkaSettings(values)
        ledger = try LedgerSettings(values)
        apple = try AppleSettings(values)
        verification = try VerificationSettings(values)
        http = try HTTPBind(values)
        log = try LogSettings(values)
        appsFile = try values.text(.appsFile)
        self.values = values
    }

    /// The apps file's path, for a command that cannot do without.
    func requiredAppsFile() throws(ConfigurationError) -> String {
        guard let appsFile else { throw .missing(.appsFile) }
        return appsFile
    }

    /// Runs a step that uses values; its error about one that the file sets names file and line.
    func locating<Part>(_ step: () throws(ConfigurationError) -> Part) throws(ConfigurationError) -> Part {
        try values.locating(step)
    }

    /// Where a key's value comes from.
    func source(_ key: ConfigurationKey) -> ConfigurationSource {
        values.source(key)
    }
}
