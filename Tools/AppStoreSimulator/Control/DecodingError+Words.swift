extension DecodingError {
    /// Which member is wrong, and how.
    var words: String {
        switch self {
        case .keyNotFound(let key, let context): "\(Self.path(context, key)) is missing"
        case .valueNotFound(_, let context): "\(Self.path(context)) is null"
        case .typeMismatch(_, let context): "\(Self.path(context)) is of another type"
        case .dataCorrupted(let context): "\(Self.path(context)) is not valid"
        @unknown default: "it is not valid"
        }
    }

    private static func path(_ context: Context, _ key: (any CodingKey)? = nil) -> String {
        let keys = context.codingPath + (key.map { [$0] } ?? [])
        return keys.isEmpty ? "it" : keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}
