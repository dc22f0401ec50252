import Logging
import Purchases

/// A swift-log handler that writes one line per event.
struct LineLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let destination: LogDestination

    init(label: String, destination: LogDestination, metadataProvider: Logger.MetadataProvider? = nil) {
        self.label = label
        self.destination = destination
        self.metadataProvider = metadataProvider
        logLevel = destination.settings.level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var sources: [Logger.Metadata?] = [metadataProvider?.get(), metadata, event.metadata]
        if let error = event.error { sources.append(["error": "\(error)"]) }
        let line = LogLine(
            time: destination.now(), level: event.level.rawValue, label: label, message: event.message.description,
            fields: LogFields.flatten(sources))
        switch destination.settings.format {
        case .json: destination.output.write(LogFormatter.json(line))
        case .text: destination.output.write(LogFormatter.text(line))
        }
    }
}

/// Where a process's log goes and what it looks like.
struct LogDestination: Sendable {
    let settings: LogSettings
    let output: LogOutput
    /// The wall clock.
    let now: @Sendable () -> Timestamp

    /// Where lines go, in which form, dated by which clock.
    init(settings: LogSettings, output: LogOutput = .standardError, now: @escaping @Sendable () -> Timestamp) {
        self.settings = settings
        self.output = output
        self.now = now
    }

    /// A logger that writes here.
    func logger(label: String) -> Logger {
        Logger(label: label) { LineLogHandler(label: $0, destination: self) }
    }

    /// Makes this the destination of every logger of the process. Once per process.
    func bootstrap() {
        LoggingSystem.bootstrap(
            { LineLogHandler(label: $0, destination: self, metadataProvider: $1) }, metadataProvider: nil)
    }
}
