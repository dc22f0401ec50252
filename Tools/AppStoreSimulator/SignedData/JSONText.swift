internal import Contract

/// A JSON object's members in order. Each value is a piece of JSON text, so that a forged object can hold anything.
struct JSONText: Sendable {
    private var members: [(name: String, json: String)] = []

    /// The object on one line.
    var text: String {
        var text = "{"
        for (name, json) in members {
            if text.utf8.count > 1 { text += "," }
            text += Self.quoted(name)
            text += ":"
            text += json
        }
        return text + "}"
    }

    /// Appends a text; nothing for nil.
    mutating func add(_ name: String, _ value: String?) {
        if let value { members.append((name, Self.quoted(value))) }
    }

    /// Appends a number; nothing for nil.
    mutating func add(_ name: String, _ value: Int64?) {
        if let value { members.append((name, String(value))) }
    }

    /// Appends a moment as signed data has it, a number of milliseconds; nothing for nil.
    mutating func add(_ name: String, _ value: Timestamp?) {
        add(name, value?.milliseconds)
    }

    /// Appends a member whose value is JSON already.
    mutating func add(_ name: String, json: String) {
        members.append((name, json))
    }

    /// Applies changes in their order.
    mutating func apply(_ changes: [MemberChange]) {
        for change in changes {
            switch change {
            case .set(let name, let json):
                if let index = members.firstIndex(where: { $0.name == name }) {
                    members[index].json = json
                } else {
                    members.append((name, json))
                }
            case .add(let name, let json): members.append((name, json))
            case .remove(let name): members.removeAll { $0.name == name }
            }
        }
    }

    /// A JSON array of texts.
    static func array(_ texts: [String]) -> String {
        "[" + texts.map(quoted).joined(separator: ",") + "]"
    }

    /// A text as JSON has it (RFC 8259, section 7).
    static func quoted(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
            return "\"\(text)\""
        }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\0"..."\u{1f}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

/// A change of a JSON object before it is signed, to forge data that Apple would never sign.
///
/// In JSON: `{"set": {"name": "quantity", "json": "-5"}}`, `{"remove": {"name": "bundleId"}}`. Values are JSON texts
/// that nobody checks.
public enum MemberChange: Hashable, Sendable, Codable {
    /// Replaces a member's value; appends the member if there is none of that name.
    case set(name: String, json: String)
    /// Appends a member even if there is one of that name.
    case add(name: String, json: String)
    /// Takes every member of that name out.
    case remove(name: String)
}
