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
    fileprivate var breaksLines: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
