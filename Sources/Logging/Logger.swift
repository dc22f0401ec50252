internal import Scheduling
internal import Synchronization

/// Writes log events with what they have in common: a label and a level.
///
/// A value: a copy can be given another level without a change to the original. Messages are constants, and everything
/// variable is metadata, so that lines can be searched and counted. Neither is evaluated below the level. Nothing
/// secret goes into either: no receipt, no token, no key.
public struct Logger: Sendable {
    /// How much an event matters; the raw values are those of configuration and of log lines.
    public enum Level: String, Hashable, Sendable, CaseIterable, Comparable {
        case debug, info, notice, warning, error, critical

        public static func < (left: Level, right: Level) -> Bool { left.order < right.order }

        private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    public typealias Metadata = [String: LogValue]

    public let label: String
    public var logLevel: Level
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

    /// Writes an event unless it is below the level.
    public func log(
        level: Level, _ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]
    ) {
        guard level >= logLevel else { return }
        handler.log(level, label, message(), metadata())
    }
}

extension Logger {
    /// For finding faults of the program.
    public func debug(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .debug, message(), metadata: metadata())
    }

    /// For the normal course of things.
    public func info(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .info, message(), metadata: metadata())
    }

    /// For rare but normal events, and for the end of trouble.
    public func notice(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .notice, message(), metadata: metadata())
    }

    /// For trouble that the program overcomes.
    public func warning(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .warning, message(), metadata: metadata())
    }

    /// For trouble that a person has to end.
    public func error(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .error, message(), metadata: metadata())
    }

    /// For the end of the program, or of its promises.
    public func critical(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .critical, message(), metadata: metadata())
    }
}

/// A value of a log line's metadata.
public enum LogValue: Hashable, Sendable, CustomStringConvertible {
    case text(String)
    /// A number as such, so that programs can compare it. Its name says the unit: `away_seconds`.
    case number(Int)

    public var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        }
    }

    /// A number of whole seconds.
    public static func seconds(_ duration: Duration) -> LogValue { .number(Int(duration.components.seconds)) }
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    public init(stringLiteral text: String) { self = .text(text) }
    public init(integerLiteral number: Int) { self = .number(number) }
}

/// Takes the events of any number of loggers, from any thread, and keeps none of them waiting.
public protocol LogHandler: Sendable {
    /// Writes an event; its logger has compared the level already.
    func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata)
}

/// The handler and the level that loggers of this process begin with.
public enum LoggingSystem {
    private static let state = Mutex<(any LogHandler, Logger.Level)>((LineLogHandler(format: .text), .info))

    static var current: (any LogHandler, Logger.Level) { state.withLock { $0 } }

    /// Sets both for every logger made from now on. A program calls it once, before it makes a logger; until then lines
    /// of text go to standard error.
    public static func bootstrap(handler: any LogHandler, level: Logger.Level) {
        state.withLock { $0 = (handler, level) }
    }
}

public struct LineLogHandler: LogHandler {
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// One JSON object, for programs.
        case json
        /// For people at a terminal.
        case text
    }

    private let format: Format
    private let now: @Sendable () -> Int64
    private let write: @Sendable ([UInt8]) -> Void

    /// A handler that dates events by the system's clock, and writes to standard error.
    public init(format: Format) {
        self.init(format: format, now: { WallClock.milliseconds }, write: { DescriptorWriter.standardError.write($0) })
    }

    /// - Parameters:
    ///   - now: the wall clock, in milliseconds since 1970.
    ///   - write: takes a line with its line break.
    init(format: Format, now: @escaping @Sendable () -> Int64, write: @escaping @Sendable ([UInt8]) -> Void) {
        self.format = format
        self.now = now
        self.write = write
    }

    public func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
        let line = LogLine(
            time: now(), level: level.rawValue, label: label, message: message, fields: LogFields.bounded(metadata))
        switch format {
        case .json: write(LogFormatter.json(line))
        case .text: write(LogFormatter.text(line))
        }
    }
}
