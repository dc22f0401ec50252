/// Writes log events with what they have in common: a label, a level and metadata.
///
/// A value: a copy can be given another level or more metadata without a change to the original. Messages are constants,
/// and everything variable is metadata, so that lines can be searched and counted. Neither is evaluated below the level.
/// Nothing secret goes into either: no receipt, no token, no key.
public struct Logger: Sendable {
    /// How much an event matters; the raw values are those of configuration and of log lines.
    public enum Level: String, Hashable, Sendable, CaseIterable, Comparable {
        case trace, debug, info, notice, warning, error, critical

        public static func < (left: Level, right: Level) -> Bool { left.order < right.order }

        private var order: Int {
            switch self {
            case .trace: 0
            case .debug: 1
            case .info: 2
            case .notice: 3
            case .warning: 4
            case .error: 5
            case .critical: 6
            }
        }
    }

    /// Names and texts beside a message.
    public typealias Metadata = [String: String]

    /// The part of the program that logs.
    public var label: String
    /// Events below are not written.
    public var logLevel: Level
    /// Goes with every event; an event's own metadata wins over it.
    public var metadata: Metadata = [:]
    private let handler: any LogHandler

    /// A logger of this process, with the handler and the level that ``LoggingSystem`` has at this moment.
    public init(label: String) {
        let (handler, level) = LoggingSystem.current
        self.init(label: label, level: level, handler: handler)
    }

    /// A logger that writes to a handler of its own.
    public init(label: String, level: Level = .info, handler: any LogHandler) {
        self.label = label
        self.handler = handler
        logLevel = level
    }

    public subscript(metadataKey key: String) -> String? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// The same logger for another part of the program.
    public func with(label: String) -> Logger {
        var logger = self
        logger.label = label
        return logger
    }

    /// Writes an event unless it is below the level.
    ///
    /// - Parameter error: becomes the metadata `error`.
    public func log(
        level: Level, _ message: @autoclosure () -> String, error: (any Error)? = nil,
        metadata: @autoclosure () -> Metadata = [:]
    ) {
        guard level >= logLevel else { return }
        var fields = self.metadata.merging(metadata()) { _, event in event }
        if let error { fields["error"] = "\(error)" }
        handler.log(LogEvent(level: level, label: label, message: message(), metadata: fields))
    }
}

extension Logger {
    /// For following a single step.
    public func trace(
        _ message: @autoclosure () -> String, error: (any Error)? = nil, metadata: @autoclosure () -> Metadata = [:]
    ) {
        log(level: .trace, message(), error: error, metadata: metadata())
    }

    /// For finding faults of the program.
    public func debug(
        _ message: @autoclosure () -> String, error: (any Error)? = nil, metadata: @autoclosure () -> Metadata = [:]
    ) {
        log(level: .debug, message(), error: error, metadata: metadata())
    }

    /// For the normal course of things.
    public func info(
        _ message: @autoclosure () -> String, error: (any Error)? = nil, metadata: @autoclosure () -> Metadata = [:]
    ) {
        log(level: .info, message(), error: error, metadata: metadata())
    }

    /// For what is normal but rare.
    public func notice(
        _ message: @autoclosure () -> String, error: (any Error)? = nil, metadata: @autoclosure () -> Metadata = [:]
    ) {
        log(level: .notice, message(), error: error, metadata: metadata())
    }

    /// For trouble that the program overcomes.
    public func warning(
        _ message: @autoclosure () -> String, error: (any Error)? = nil, metadata: @autoclosure () -> Metadata = [:]
    ) {
        log(level: .warning, message(), error: error, metadata: metadata())
    }

    /// For trouble that a person has to end.
    public func error(
        _ message: @autoclosure () -> String, error: (any Error)? = nil, metadata: @autoclosure () -> Metadata = [:]
    ) {
        log(level: .error, message(), error: error, metadata: metadata())
    }

    /// For the end of the program, or of what it promises.
    public func critical(
        _ message: @autoclosure () -> String, error: (any Error)? = nil, metadata: @autoclosure () -> Metadata = [:]
    ) {
        log(level: .critical, message(), error: error, metadata: metadata())
    }
}
