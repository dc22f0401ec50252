import Foundation
import SystemTesting

/// People who run `grantor`'s commands.
struct Operators: Sendable {
    /// How a command ended, and what it said.
    struct Said: Sendable {
        let exit: ChildProcess.Exit
        let output: String
        let errors: String

        /// Lines of the output.
        var lines: [Substring] { output.split(separator: "\n") }

        /// The output as JSON.
        func json<Answer: Decodable>(_: Answer.Type = Answer.self) throws -> Answer {
            try JSONDecoder().decode(Answer.self, from: Data(output.utf8))
        }
    }

    private static let starts = Counter()

    let environment: [String: String]
    let folder: TemporaryFolder

    /// Runs a command to its end.
    func run(_ arguments: [String]) async throws -> Said {
        let process = try ChildProcess(
            Executables.built("grantor"), arguments, environment: environment, in: folder.url,
            name: "command-\(Self.starts.next())")
        let exit = try await process.exit(within: .seconds(60))
        return Said(exit: exit, output: process.output.text, errors: process.errors.text)
    }

    /// Runs a command that is written as in a shell; words are separated by spaces, and text in double quotes is one word.
    func run(_ line: String) async throws -> Said {
        try await run(Self.words(line))
    }

    static func words(_ line: String) -> [String] {
        line.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
    }
}
