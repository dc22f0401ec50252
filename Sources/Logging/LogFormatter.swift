internal import Scheduling

/// The parts of one log line.
struct LogLine: Sendable {
    /// Of the wall clock, in milliseconds since 1970.
    let time: Int64
    let level: String
    let label: String
    let message: String
    /// Sorted by name, no name twice.
    let fields: [(name: String, value: LogValue)]
}

/// Makes bytes of a log line; its last byte is its only line break.
enum LogFormatter {
    /// Members that every JSON line has; a field of such a name gets `metadata.` before it.
    static let reserved: Set<String> = ["ts", "level", "label", "message"]

    /// One JSON object (RFC 8259) whose values are strings and numbers.
    static func json(_ line: LogLine) -> [UInt8] {
        var text = "{"
        append("ts", date(line.time), to: &text)
        append("level", line.level, to: &text)
        append("label", line.label, to: &text)
        append("message", LogFields.cut(line.message), to: &text)
        let names = Set(line.fields.map(\.name))
        for field in line.fields {
            var name = field.name
            while reserved.contains(name) || (name != field.name && names.contains(name)) { name = "metadata." + name }
            switch field.value {
            case .text(let value): append(name, value, to: &text)
            case .number: append(name, number: field.value.description, to: &text)
            }
        }
        return Array((text + "}\n").utf8)
    }

    /// A line for people: `2026-11-21T04:59:13.250Z info label: message name=value name="a value"`.
    static func text(_ line: LogLine) -> [UInt8] {
        var text = "\(date(line.time)) \(line.level) \(line.label): "
        escape(LogFields.cut(line.message), quote: false, to: &text)
        for field in line.fields {
            text += " "
            escape(field.name, quote: false, to: &text)
            text += "="
            let value = field.value.description
            // Character by character a mark above a blank would hide it.
            let plain = !value.isEmpty && value.unicodeScalars.allSatisfy { $0 != " " && $0 != "\"" && $0 != "=" }
            if !plain { text += "\"" }
            escape(value, quote: !plain, to: &text)
            if !plain { text += "\"" }
        }
        return Array((text + "\n").utf8)
    }

    /// `2026-11-21T04:59:13.250Z` (RFC 3339).
    private static func date(_ milliseconds: Int64) -> String {
        let text = CivilText.rfc3339(milliseconds: milliseconds)
        return String(decoding: text.indices.map { text[$0] }, as: UTF8.self)
    }

    private static func append(_ name: String, _ value: String, to text: inout String) {
        append(name, number: "\"", to: &text)
        escape(value, quote: true, to: &text)
        text += "\""
    }

    /// - Parameter number: The value as it stands in the text.
    private static func append(_ name: String, number: String, to text: inout String) {
        text += text == "{" ? "\"" : ",\""
        escape(name, quote: true, to: &text)
        text += "\":" + number
    }

    /// Appends with control and format characters escaped as in JSON. So no value can break a line, steer a terminal or
    /// show its text in another order.
    private static func escape(_ value: String, quote: Bool, to text: inout String) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"" where quote: text += "\\\""
            case "\\" where quote: text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case " "..."~": text.unicodeScalars.append(scalar)
            case _ where isHidden(scalar):
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Whether it could break a line, steer a terminal, turn or hide text. Scripts and emoji join their letters by two
    /// of the format characters.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\u{200C}" || scalar == "\u{200D}" { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

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

    /// Names and values, sorted by name.
    static func bounded(_ metadata: Logger.Metadata) -> [(name: String, value: LogValue)] {
        var bytes = 0
        return
            metadata.sorted { $0.key < $1.key }
            .prefix(maxFields)
            .map { (name: cut($0.key, to: maxNameBytes), value: cut($0.value)) }
            .prefix { name, value in
                bytes += name.utf8.count + value.description.utf8.count
                return bytes <= maxBytes
            }
    }

    private static func cut(_ value: LogValue) -> LogValue {
        if case .text(let text) = value { .text(cut(text)) } else { value }
    }

    /// The text, or as much of it as fits with a mark that something is missing.
    static func cut(_ text: String, to maxBytes: Int = maxTextBytes) -> String {
        guard text.utf8.count > maxBytes else { return text }
        return String(decoding: text.utf8.prefix(maxBytes), as: UTF8.self) + "[cut]"
    }
}
