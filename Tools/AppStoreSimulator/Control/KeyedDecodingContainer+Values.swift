internal import Contract

extension KeyedDecodingContainer {
    /// An RFC 3339 date.
    func moment(_ key: Key) throws -> Timestamp {
        guard let moment = Timestamp(rfc3339: try decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "not an RFC 3339 date")
        }
        return moment
    }

    /// An RFC 3339 date; nil if it is left out or null.
    func momentIfPresent(_ key: Key) throws -> Timestamp? {
        try contains(key) && !decodeNil(forKey: key) ? moment(key) : nil
    }

    /// A value of an enumeration, by its name; nil if it is left out or null.
    func choice<Choice: RawRepresentable<String>>(_ key: Key) throws -> Choice? {
        guard let name = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let choice = Choice(rawValue: name) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "not one of its values")
        }
        return choice
    }
}
