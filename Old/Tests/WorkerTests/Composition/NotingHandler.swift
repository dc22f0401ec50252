import Logging

/// Hands on each line's message.
struct NotingHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    private let note: @Sendable (String) -> Void

    init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { note(event.message.description) }
}
