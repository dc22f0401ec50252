/// A value of a JSON text, not yet made into anything.
enum JSONToken: Sendable {
    case string(JSONString)
    /// Where it stands.
    case number(Range<Int>)
    case boolean(Bool)
    case null, object, array

    func value(in text: [UInt8]) -> StrictJSON.Value {
        switch self {
        case .string(let string): .string(string.string(in: text))
        case .number(let place): .number(String(decoding: text[place], as: UTF8.self))
        case .boolean(let flag): .boolean(flag)
        case .null: .null
        case .object: .object
        case .array: .array
        }
    }
}
