import Testing

@testable import Configuration

@Suite("Configuration errors")
struct ConfigurationErrorTests {
    private static let member = ConfigurationError.Place.member(file: "apps.yaml", line: 4, path: "apps[0].sandbox")
    private static let setting = ConfigurationError.Place.setting(Settings.maxCalls.name)
    private static let shown = "GRANTOR_MAX_CALLS (maxCalls in the file)"

    @Test(
        "Each says in one line what is wrong where",
        arguments: [
            (
                ConfigurationError.unknownVariable("GRANTOR_X"),
                "unknown environment variable GRANTOR_X; docs/configuration.md has every setting"
            ),
            (.unknownMember(member), "apps.yaml:4: apps[0].sandbox is unknown; docs/configuration.md has every name"),
            (.missing(Settings.maxCalls.name), "\(shown) must be set"),
            (.refused(setting, requirement: "small"), "\(shown) must be small"),
            (.refused(member, requirement: "small"), "apps.yaml:4: apps[0].sandbox must be small"),
            (
                .contradiction(setting, member, problem: "contradict"),
                "\(shown) and apps.yaml:4: apps[0].sandbox contradict"
            ),
            (.file("f", .notThere, namedBy: nil), "f: there is no such file"),
            (.file("f", .unreadable, namedBy: setting), "\(shown): f: the file cannot be read"),
            (.file("f", .forbidden, namedBy: nil), "f: this user may not read the file, or not enter its folder"),
            (.file("f", .folder, namedBy: nil), "f: it is a folder, not a file"),
            (.file("f", .empty, namedBy: member), "apps.yaml:4: apps[0].sandbox: f: the file is empty"),
            (.file("f", .tooLarge(limit: 9), namedBy: nil), "f: the file is larger than 9 bytes"),
            (.file("f", .notText, namedBy: nil), "f: the file is not UTF-8 text"),
            (.syntax(file: "f", line: 3, problem: "not YAML"), "f:3: not YAML"),
            (.syntax(file: "f", line: nil, problem: "not YAML"), "f: not YAML"),
        ])
    func lines(error: ConfigurationError, line: String) {
        #expect(error.description == line)
    }

    @Test(
        "Line breaks and control characters of a name cannot break or forge a line",
        arguments: [
            ConfigurationError.file("a\ngrantor: all is well", .notThere, namedBy: nil),
            .unknownVariable("GRANTOR_\u{1B}[2J"),
            .unknownMember(.member(file: "f", line: 1, path: "a\r\nb")),
        ])
    func oneLine(error: ConfigurationError) {
        #expect(!error.description.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test(
        "Control and format characters cannot be seen",
        arguments: ["\0", "\n", "\u{1B}", "\u{7F}", "\u{AD}", "\u{200B}", "\u{202E}", "\u{FEFF}"] as [Unicode.Scalar])
    func invisible(scalar: Unicode.Scalar) {
        #expect(scalar.isInvisible)
    }

    @Test(
        "Letters of any script, spaces and signs can be seen",
        arguments: ["a", " ", "-", "é", "字", "\u{A0}", "😀"] as [Unicode.Scalar])
    func visible(scalar: Unicode.Scalar) {
        #expect(!scalar.isInvisible)
    }
}
