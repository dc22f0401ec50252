import Foundation

/// Values that tables hold, or statements take, as JSON text.
enum JSONText {
    static func encode(_ value: some Encodable) throws(LedgerError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            // Texts and whole numbers always have a form in JSON.
            throw .damaged("a value cannot be written as JSON")
        }
    }

    static func decode<Value: Decodable>(_ text: String) throws(LedgerError) -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw .damaged("a row holds JSON that cannot be read")
        }
    }
}
