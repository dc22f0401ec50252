public import Foundation

/// A file that a process writes lines to.
public struct OutputFile: Sendable {
    public let path: String

    /// A file that need not be there yet.
    public init(_ file: URL) {
        path = file.path
    }

    /// Everything written so far.
    public var text: String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }

    /// Complete lines written so far.
    public var lines: [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }
}
