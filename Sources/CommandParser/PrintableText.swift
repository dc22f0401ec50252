/// Texts from outside on their way to a terminal.
public enum PrintableText {
    /// The text with every character replaced that could break a line or steer a terminal.
    public static func singleLine(_ text: String) -> String {
        var printable = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { printable.append(scalar.breaksLines ? "\u{FFFD}" : scalar) }
        return String(printable)
    }

    /// A JSON text with escapes for all characters beyond ASCII that could break a line or steer a terminal, and for
    /// DEL. JSON itself escapes the other characters of ASCII.
    public static func escapedInJSON(_ json: String) -> String {
        guard json.utf8.contains(where: { $0 >= 0x7F }) else { return json }
        var escaped = ""
        for scalar in json.unicodeScalars {
            if scalar.value >= 0x7F, scalar.breaksLines {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// A text of at most so many columns; `…` stands last if some is missing.
    public static func cut(_ text: String, to width: Int) -> String {
        guard self.width(of: text) > width else { return text }
        var cut = ""
        var used = 1
        for character in text {
            used += self.width(of: character)
            guard used <= width else { break }
            cut.append(character)
        }
        return cut + "…"
    }

    /// The words of a text in lines of at most so many columns, unless one word is longer.
    public static func wrapped(_ text: String, to width: Int) -> [String] {
        wrapped(words: text.split(whereSeparator: \.isWhitespace).map(String.init), to: width)
    }

    /// Some words in lines of at most so many columns, unless one is longer. White space within a word stays.
    public static func wrapped(words: [String], to width: Int) -> [String] {
        var lines: [String] = []
        var used = 0
        for word in words {
            let more = self.width(of: word)
            if used > 0, more < width - used {
                lines[lines.count - 1] += " \(word)"
                used += 1 + more
            } else {
                lines.append(word)
                used = more
            }
        }
        return lines
    }

    /// The columns that a terminal gives a text: two for each ideograph, syllable of Hangul, full-width form and emoji.
    public static func width(of text: String) -> Int {
        // Ids are nearly always ASCII.
        guard text.utf8.contains(where: { $0 > 0x7F }) else { return text.utf8.count }
        return text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        let isEmoji = first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}")
        if isEmoji || wide.contains(where: { $0.contains(first.value) }) { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return 1
        }
    }

    /// Blocks whose characters are wide or full-width (Unicode Standard Annex 11), without emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF,
        0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
}

extension Unicode.Scalar {
    /// Whether it could break a line or steer a terminal.
    var breaksLines: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
