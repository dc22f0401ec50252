/// Rules for every value, wherever it stands.
enum CheckedText {
    /// The text as it is, unless it is empty, holds a control character, or is what is left of bytes that are not UTF-8.
    static func check(_ text: String, _ place: ConfigurationError.Place) throws(ConfigurationError) -> String {
        // A value that is set and empty was lost on its way here, most likely.
        guard !text.isEmpty else { throw .refused(place, requirement: "set, not empty") }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw .refused(place, requirement: "a text without control characters")
        }
        guard !text.unicodeScalars.contains("\u{FFFD}") else { throw .refused(place, requirement: "UTF-8 text") }
        return text
    }
}
