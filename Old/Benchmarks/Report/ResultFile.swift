import Foundation

/// Results as JSON, for programs.
enum ResultFile {
    /// Writes nothing without a path.
    static func write(_ results: some Encodable, to path: String?) throws {
        guard let path else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        try encoder.encode(results).write(to: URL(filePath: path))
    }
}
