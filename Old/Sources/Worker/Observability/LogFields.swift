import Logging

/// What a log line says beside its message: metadata of all sources in one flat list.
enum LogFields {
    /// Longest text of a message or a value, in bytes; the rest is cut off.
    static let maxTextBytes = 8 << 10
    /// Longest name of a field, in bytes; the rest is cut off.
    static let maxNameBytes = 256
    /// Most bytes of all names and values of a line; fields beyond it are left out.
    static let maxBytes = 64 << 10
    /// Most fields of a line; the rest is left out.
    static let maxFields = 64
    /// Deepest nesting that is followed.
    static let maxDepth = 8

    /// The later sources win. Members of a dictionary become `outer.inner`, elements of an array `outer.0`.
    ///
    /// - Returns: names and texts, sorted by name, no name twice.
    static func flatten(_ sources: [Logger.Metadata?]) -> [(name: String, text: String)] {
        let merged = sources.reduce(into: Logger.Metadata()) { merged, source in
            if let source { merged.merge(source) { _, later in later } }
        }
        var fields: [String: String] = [:]
        for name in merged.keys.sorted() {
            if let value = merged[name] { add(value, name, depth: 0, to: &fields) }
        }
        var bytes = 0
        return fields.sorted { $0.key < $1.key }
            .prefix { name, text in
                bytes += name.utf8.count + text.utf8.count
                return bytes <= maxBytes
            }
            .map { (name: $0.key, text: $0.value) }
    }

    private static func add(
        _ value: Logger.MetadataValue, _ name: String, depth: Int, to fields: inout [String: String]
    ) {
        guard depth < maxDepth, fields.count < maxFields else { return }
        switch value {
        case .string(let text):
            fields[cut(name, to: maxNameBytes)] = cut(text)
        case .stringConvertible(let convertible):
            fields[cut(name, to: maxNameBytes)] = cut(convertible.description)
        case .dictionary(let members):
            for key in members.keys.sorted() {
                if let member = members[key] { add(member, "\(name).\(key)", depth: depth + 1, to: &fields) }
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                add(element, "\(name).\(index)", depth: depth + 1, to: &fields)
            }
        }
    }

    /// The text, or as much of it as fits with a mark that something is missing.
    static func cut(_ text: String, to maxBytes: Int = maxTextBytes) -> String {
        guard text.utf8.count > maxBytes else { return text }
        return String(decoding: text.utf8.prefix(maxBytes), as: UTF8.self) + "[cut]"
    }
}
