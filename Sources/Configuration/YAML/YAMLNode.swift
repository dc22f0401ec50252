/// A value of a YAML document, with the line that it begins in.
struct YAMLNode: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// Numbers and truth values are texts, as written. `isNull`: nothing, `~` or `null`, without quotes.
        case scalar(String, isNull: Bool)
        case sequence([YAMLNode])
        /// In the file's order; no name twice.
        case mapping([Member])
    }

    struct Member: Hashable, Sendable {
        let name: String
        let value: YAMLNode
    }

    let content: Content
    let line: Int
}
