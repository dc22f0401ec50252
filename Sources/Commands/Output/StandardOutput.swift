import CommandParser
import Glibc

/// The places that answers and failures go to.
enum StandardOutput {
    /// Writes an answer.
    ///
    /// - Throws: the end of a command whose answer nobody can read.
    static func write(_ text: String) throws(CommandFailure) {
        guard write(text, to: STDOUT_FILENO) else {
            throw CommandFailure(.failed, "the answer cannot be written to standard output")
        }
    }

    /// Writes a line about a failure. Where standard error cannot be written, the exit code tells.
    static func writeError(_ text: String) { _ = write(text, to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
