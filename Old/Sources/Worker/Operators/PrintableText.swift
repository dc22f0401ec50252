/// Texts from outside on their way to a terminal.
enum PrintableText {
    /// The text with everything replaced that could break a line or steer a terminal.
    static func singleLine(_ text: String) -> String {
        var printable = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: printable.append("\u{FFFD}")
            default: printable.unicodeScalars.append(scalar)
            }
        }
        return printable
    }

    /// At most so many characters, the last of them `…` if some are missing.
    static func cut(_ text: String, to width: Int) -> String {
        text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
    }
}
