import Foundation

/// The checkout that the tests were built from.
enum Repository {
    /// The text of a file of it.
    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: self.path(path), encoding: .utf8)
    }

    /// Where a file of it is.
    static func path(_ path: String) -> String {
        // Tests/ConfigurationTests/Repository.swift
        (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }.path + "/" + path
    }
}
