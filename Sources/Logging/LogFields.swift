/// The metadata of a log line, within bounds.
enum LogFields {
    /// Longest text of a message or a value, in bytes; the rest is cut off.
    static let maxTextBytes = 8 << 10
    /// Longest name of a field, in bytes; the rest is cut off.
    static let maxNameBytes = 256
    /// Most bytes of all names and values of a line; fields beyond it are left out.
    static let maxBytes = 64 << 10
    /// Most fields of a line; the rest is left out.
    static let maxFields = 64

    /// Names and texts, sorted by name.
    static func bounded(_ metadata: Logger.Metadata) -> [(name: String, text: String)] {
        var bytes = 0
        return
            metadata.sorted { $0.key < $1.key }
            .prefix(maxFields)
            .map { (name: cut($0.key, to: maxNameBytes), text: cut($0.value)) }
            .prefix { name, text in
                bytes += name.utf8.count + text.utf8.count
                return bytes <= maxBytes
            }
    }

    /// The text, or as much of it as fits with a mark that something is missing.
    static func cut(_ text: String, to maxBytes: Int = maxTextBytes) -> String {
        guard text.utf8.count > maxBytes else { return text }
        return String(decoding: text.utf8.prefix(maxBytes), as: UTF8.self) + "[cut]"
    }
}
