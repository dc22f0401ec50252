/// Writes one line per event.
public struct LineLogHandler: LogHandler {
    /// The form of a line.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// One JSON object, for programs.
        case json
        /// For people at a terminal.
        case text
    }

    private let format: Format
    private let now: @Sendable () -> WallTime
    private let write: @Sendable ([UInt8]) -> Void

    /// A handler that dates events by the system's clock.
    public init(format: Format, writer: DescriptorWriter = .standardError) {
        self.init(format: format, now: { .now }, write: { writer.write($0) })
    }

    /// - Parameters:
    ///   - now: the wall clock.
    ///   - write: takes a line with its line break.
    init(format: Format, now: @escaping @Sendable () -> WallTime, write: @escaping @Sendable ([UInt8]) -> Void) {
        self.format = format
        self.now = now
        self.write = write
    }

    public func log(_ event: LogEvent) {
        let line = LogLine(
            time: now(), level: event.level.rawValue, label: event.label, message: event.message,
            fields: LogFields.bounded(event.metadata))
        switch format {
        case .json: write(LogFormatter.json(line))
        case .text: write(LogFormatter.text(line))
        }
    }
}
