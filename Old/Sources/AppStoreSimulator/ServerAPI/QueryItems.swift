import Foundation

/// The parameters of a call's query, each name with its values in their order.
struct QueryItems: Sendable {
    private let values: [String: [String]]

    /// Reads what follows the question mark of a URL.
    init(_ query: String?) {
        var components = URLComponents()
        components.percentEncodedQuery = query.flatMap { Self.isEncoded($0) ? $0 : nil }
        values = Dictionary(
            grouping: components.queryItems ?? [], by: \.name
        ).mapValues { $0.compactMap(\.value) }
    }

    func all(_ name: String) -> [String] {
        values[name] ?? []
    }

    /// The one value of a parameter, read by the closure; nil if it is left out.
    ///
    /// - Parameter error: Thrown if the closure cannot read it, or if there are several.
    func one<Value>(
        _ name: String, or error: ServerAPIError, _ read: (String) -> Value?
    ) throws(ServerAPIError) -> Value? {
        let given = all(name)
        guard !given.isEmpty else { return nil }
        guard given.count == 1, let value = read(given[0]) else { throw error }
        return value
    }

    /// `URLComponents` takes no other query.
    private static func isEncoded(_ query: String) -> Bool {
        query.removingPercentEncoding != nil
            && query.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"\"#<>[]\\^`{|}".utf8.contains($0) }
    }
}
