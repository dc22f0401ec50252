/// Names and texts as the Prometheus text format (0.0.4) takes them.
enum MetricName {
    /// A metric's name: letters, digits, `_` and `:`, not a digit first. Anything else becomes `_`.
    static func metric(_ name: String, suffix: String = "") -> String {
        let cleaned = cleaned(name, allowsColon: true)
        return cleaned.hasSuffix(suffix) ? cleaned : cleaned + suffix
    }

    /// A label's name: letters, digits and `_`, not a digit first, and not `__`, which Prometheus keeps to itself.
    static func label(_ name: String) -> String {
        let cleaned = cleaned(name, allowsColon: false)
        return cleaned.hasPrefix("__") ? "x" + cleaned : cleaned
    }

    /// A label set between braces, names sorted; empty without labels. Of a name given twice the later value counts.
    static func labels(_ dimensions: [(String, String)]) -> String {
        var values: [String: String] = [:]
        for (name, value) in dimensions { values[label(name)] = value }
        guard !values.isEmpty else { return "" }
        let pairs = values.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value))\"" }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    /// A number as the format spells it.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func cleaned(_ name: String, allowsColon: Bool) -> String {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if text.isEmpty { text = "_" }
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ":") where allowsColon: text += ":"
            default: text += "_"
            }
        }
        return text.isEmpty ? "_" : text
    }
}
