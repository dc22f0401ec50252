import Foundation

/// A file that a process writes lines to.
struct OutputFile: Sendable {
    let path: String

    init(_ file: URL) {
        path = file.path
    }

    /// Everything written so far.
    var text: String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    /// Complete lines written so far.
    var lines: [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }
}
