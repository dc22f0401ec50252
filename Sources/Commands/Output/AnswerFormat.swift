import FoundationEssentials

/// The form of an answer.
enum AnswerFormat: Hashable, Sendable {
    /// For people; lines are cut to the width, nil leaves them whole.
    case text(width: Int?)
    /// One JSON object, members sorted by name.
    case json

    /// The answer, with a line break at its end.
    ///
    /// - Parameter json: encoded if JSON is wanted; has no floating-point member, so that encoding cannot fail.
    func render(json: some Encodable, text: (_ width: Int?) -> String) -> String {
        switch self {
        case .text(let width): text(width)
        case .json: JSONText.make(json)
        }
    }
}

/// JSON for people and scripts: indented, members sorted by name.
enum JSONText {
    static func make(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let encoded = try? encoder.encode(value) else { return "{}\n" }
        return String(decoding: encoded, as: UTF8.self) + "\n"
    }
}
