/// The tokens of records that a client holds, by places that fit the opaque pointer librdkafka carries with each. It
/// knows at any time what a client still owes an answer for, and costs two array accesses a record. Pure.
struct TokenTable {
    private var tokens: [UInt64?] = []
    private var free: [Int] = []

    /// Tokens without an answer.
    var count: Int { tokens.count - free.count }

    /// Keeps a token.
    /// - Returns: its place.
    mutating func insert(_ token: UInt64) -> Int {
        guard let place = free.popLast() else {
            tokens.append(token)
            return tokens.count - 1
        }
        tokens[place] = token
        return place
    }

    /// Takes a token out; nil if there is none at this place.
    mutating func remove(_ place: Int) -> UInt64? {
        guard tokens.indices.contains(place), let token = tokens[place] else { return nil }
        tokens[place] = nil
        free.append(place)
        return token
    }

    /// Takes all tokens out, in the order of their places.
    mutating func removeAll() -> [UInt64] {
        defer { self = TokenTable() }
        return tokens.compactMap { $0 }
    }
}
