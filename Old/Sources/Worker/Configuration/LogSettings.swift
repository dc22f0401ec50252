import Logging

/// How the worker's log is written.
struct LogSettings: Hashable, Sendable {
    /// What a log line looks like.
    enum Format: String, Sendable, CaseIterable {
        /// One JSON object per line.
        case json
        /// For people at a terminal.
        case text
    }

    var level = Logger.Level.info
    var format = Format.json

    /// The defaults.
    init() {}
}

extension LogSettings {
    init(_ values: ConfigurationValues) throws(ConfigurationError) {
        self.init()
        level = try values.choice(.logLevel, Logger.Level.self) ?? level
        format = try values.choice(.logFormat, Format.self) ?? format
    }
}
