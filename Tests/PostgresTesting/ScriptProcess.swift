import Foundation

/// A shell script whose input and output are pipes to this process. Its input ends with this process, however the
/// process ends, so the script can clean up then.
///
/// PostgreSQL refuses to run as root, so root starts the script as the user `postgres`.
final class ScriptProcess: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter variables: Added to this process's environment.
    init(_ script: String, _ variables: [String: String] = [:]) throws {
        var words = ["/bin/sh", "-c", script]
        if geteuid() == 0 {
            words = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + words
        }
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        // The script's user may not be able to enter this one.
        process.currentDirectoryURL = URL(filePath: "/")
        process.standardInput = input
        // Other children must not inherit it, or the script would not see the end of its input before theirs.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process.standardOutput = output
        try process.run()
    }

    /// Writes a line to the script, and waits for its own.
    func answer(to line: String) -> String {
        try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        return nextLine()
    }

    /// The script's next line, or everything that it wrote if it ends before.
    func nextLine() -> String {
        var bytes = Data()
        while !bytes.contains(UInt8(ascii: "\n")) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            bytes += more
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Ends the script's input, and waits for its end.
    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
