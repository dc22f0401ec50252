/// Texts from outside on their way to a terminal.
public enum PrintableText {
    /// The text with every character replaced that could break a line or steer a terminal.
    public static func singleLine(_ text: String) -> String {
        var printable = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { printable.append(scalar.breaksLines ? "\u{FFFD}" : scalar) }
        return String(printable)
    }

    /// At most so many characters, the last of them `…` if some are missing.
    public static func cut(_ text: String, to width: Int) -> String {
        text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
    }
}

extension Unicode.Scalar {
    /// Whether this is a control or format character, such as ZERO WIDTH SPACE (Unicode's general categories Cc and Cf).
    /// A text with one looks like another without.
    var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format: true
        default: false
        }
    }

    fileprivate var breaksLines: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
