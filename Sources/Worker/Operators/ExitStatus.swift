import ArgumentParser
import Foundation

/// How the program ends; the numbers are those of sysexits(3) where it has one.
enum ExitStatus: Int32, Sendable {
    case done = 0
    case failed = 1
    /// EX_USAGE. The argument parser ends with it by itself.
    case usage = 64
    /// EX_CONFIG.
    case configuration = 78

    /// Prints `grantor: <line>` to standard error.
    ///
    /// - Returns: what a command throws to end with this status.
    func saying(_ line: String) -> ExitCode {
        FileHandle.standardError.write(Data("grantor: \(PrintableText.singleLine(line))\n".utf8))
        return ExitCode(rawValue)
    }
}
