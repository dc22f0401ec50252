public import Logging

/// How the worker's log is written.
public struct LogSettings: Hashable, Sendable {
    public let level: Logger.Level
    public let format: LineLogHandler.Format

    /// Reads the part of the configuration that concerns logs.
    public init(_ values: SettingValues) throws(ConfigurationError) {
        level = try values.value(Settings.logLevel)
        format = try values.value(Settings.logFormat)
    }
}
