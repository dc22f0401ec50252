/// How much is under way at once, and for how long.
public struct ProcessingSettings: Hashable, Sendable {
    /// Most calls to Apple at once.
    public let maxCalls: Int
    /// Most bytes of records that are read and not complete.
    public let maxInFlightBytes: Int
    /// Most bytes of submissions that wait in the ledger for another try.
    public let maxRetryBytes: Int
    /// How long a refusal of Apple's that may not be its last word is asked about again.
    public let doubtLimit: Duration
    /// How long a stop in order may take before the rest is left for the next start.
    public let shutdownTimeout: Duration

    init(_ values: SettingValues) throws(ConfigurationError) {
        maxCalls = try values.value(Settings.maxCalls)
        maxInFlightBytes = try values.value(Settings.maxInFlightBytes)
        maxRetryBytes = try values.value(Settings.maxRetryBytes)
        doubtLimit = try values.value(Settings.doubtLimit)
        shutdownTimeout = try values.value(Settings.shutdownTimeout)
    }
}
