internal import Synchronization

/// One event as its logger made it.
public struct LogEvent: Hashable, Sendable {
    public let level: Logger.Level
    public let label: String
    public let message: String
    public let metadata: Logger.Metadata

    public init(level: Logger.Level, label: String, message: String, metadata: Logger.Metadata = [:]) {
        self.level = level
        self.label = label
        self.message = message
        self.metadata = metadata
    }
}

/// Takes the events of any number of loggers, from any thread, and keeps none of them waiting.
public protocol LogHandler: Sendable {
    /// Writes an event; its logger has compared the level already.
    func log(_ event: LogEvent)
}

/// Writes nothing.
public struct NoOpLogHandler: LogHandler {
    public init() {}

    public func log(_ event: LogEvent) {}
}

/// The handler and the level that loggers of this process begin with.
public enum LoggingSystem {
    private static let state = Mutex<(any LogHandler, Logger.Level)>((LineLogHandler(format: .text), .info))

    static var current: (any LogHandler, Logger.Level) { state.withLock { $0 } }

    /// Sets both for every logger made from now on. A program calls it once, before it makes a logger; until then lines of
    /// text go to standard error.
    public static func bootstrap(handler: any LogHandler, level: Logger.Level) {
        state.withLock { $0 = (handler, level) }
    }
}
