/// Names and texts as the Prometheus text format (0.0.4) spells them.
enum PrometheusText {
    /// Whether a metric or a label may have this name: letters, digits and `_`, not a digit first, and not `__` at the
    /// front, which Prometheus keeps to itself.
    static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !isDigit(first), !name.hasPrefix("__") else { return false }
        return name.utf8.allSatisfy { byte in
            isDigit(byte) || byte == UInt8(ascii: "_")
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
    }

    /// Label names; debug builds trap on those of another form, and on `le`, which is a histogram's own.
    static func checked(_ labels: [String]) -> [String] {
        assert(labels.allSatisfy { isName($0) && $0 != "le" }, "A label's name has letters, digits and _.")
        return labels
    }

    /// Bounds of buckets; debug builds trap on those that do not rise.
    static func checked(_ bounds: [Double]) -> [Double] {
        assert(!bounds.isEmpty && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "The bounds of buckets rise.")
        return bounds
    }

    /// A label set between braces; empty without labels. A value that is missing is empty.
    static func labels(_ names: [String], _ values: [String]) -> String {
        guard !names.isEmpty else { return "" }
        let pairs = names.enumerated().map { index, name in
            "\(name)=\"\(escaped(index < values.count ? values[index] : "", quotes: true))\""
        }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    /// The lines that explain a metric and name its type.
    static func heading(_ name: String, kind: String, help: String) -> String {
        "# HELP \(name) \(escaped(help, quotes: false))\n# TYPE \(name) \(kind)"
    }

    /// A number as the format spells it.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }

    private static func escaped(_ value: String, quotes: Bool) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"" where quotes: text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
