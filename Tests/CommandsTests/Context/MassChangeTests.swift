import CommandParser
import Testing

@testable import Commands

@Suite("A flag without which nothing changes")
struct ChangeOptionsTests {
    private static let trials = [
        "erase --user u --key-file k", "events republish --app a", "grants import file", "prune --older-than 9d",
    ]

    @Test("A person or a reason without it is refused: they would be nowhere", arguments: trials, ["actor", "reason"])
    func withoutApply(trial: String, option: String) throws {
        let result = try SampleRun()("\(trial) --\(option) kim")
        #expect(result.status == .usage)
        #expect(result.errors.hasPrefix("grantor: --actor and --reason go with --apply\n"))
    }

    @Test("It is refused without a person, and without a reason", arguments: trials, ["actor", "reason"])
    func alone(trial: String, option: String) throws {
        let result = try SampleRun()("\(trial) --apply --\(option) kim")
        #expect(result.status == .usage)
        #expect(result.errors.hasPrefix("grantor: --apply needs --actor and --reason\n"))
    }

    @Test("The repair of an audit has the same rule", arguments: ["actor", "reason"])
    func repair(option: String) throws {
        let errors = try ["", "--repair "].map { try SampleRun()("audit \($0)--\(option) kim").errors }
        #expect(errors[0].hasPrefix("grantor: --actor and --reason go with --repair\n"))
        #expect(errors[1].hasPrefix("grantor: --repair needs --actor and --reason\n"))
    }
}
