/// Everything a worker is told, read and checked once, before anything starts. Its parts go to those who need them.
///
/// Commands that need one part read only that part from ``SettingValues``, so that a mistake elsewhere keeps nobody from
/// looking into a ledger.
public struct WorkerConfiguration: Sendable {
    public let kafka: KafkaSettings
    public let ledger: LedgerSettings
    public let apple: AppleSettings
    public let processing: ProcessingSettings
    /// The address of health and metrics.
    public let http: HostAndPort
    public let log: LogSettings
    /// The path of the apps file, which is read again while the worker runs.
    public let appsFile: String
    /// The apps as they were when the configuration was read.
    public let apps: ConfiguredApps
    /// All settings in force, without secrets.
    public let lines: [SettingLine]

    /// Reads the settings, the files that they name, and the apps.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        kafka = try KafkaSettings(values)
        ledger = try LedgerSettings(values)
        apple = try AppleSettings(values)
        processing = try ProcessingSettings(values)
        http = try values.value(Settings.httpBind)
        log = try LogSettings(values)
        appsFile = try values.value(Settings.appsFile)
        apps = try ConfiguredApps(values)
        lines = try Settings.lines(values)
    }
}
