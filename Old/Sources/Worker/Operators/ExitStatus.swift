import ArgumentParser
import Foundation

/// Where commands answer.
enum StandardOutput {
    /// Writes an answer.
    ///
    /// - Throws: the end of a command whose answer nobody can read: exit 1, with a line that says so.
    static func write(_ text: String) throws(ExitCode) {
        try write(Data(text.utf8))
    }

    /// Writes an answer's bytes.
    ///
    /// - Throws: as ``write(_:)-(String)``.
    static func write(_ data: Data) throws(ExitCode) {
        do {
            // Not `write(_:)`, which ends the process in a crash.
            try FileHandle.standardOutput.write(contentsOf: data)
        } catch {
            throw ExitStatus.failed.saying("the answer cannot be written to standard output")
        }
    }
}

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
        // Where standard error cannot be written there is nowhere left to say so; the exit code tells.
        try? FileHandle.standardError.write(contentsOf: Data("grantor: \(PrintableText.singleLine(line))\n".utf8))
        return ExitCode(rawValue)
    }
}
