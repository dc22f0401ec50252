import Testing

@testable import Worker

@Suite("Configuration errors")
struct ConfigurationErrorTests {
    private static let place = ConfigurationError.Place(file: "apps.yaml", line: 4, member: "apps[0].sandbox")
    private static let key = "GRANTOR_MAX_IN_FLIGHT (maxInFlight in the file)"
    private static let other = "GRANTOR_LOG_LEVEL (log.level in the file)"

    @Test(
        "Each says in one line what is wrong where",
        arguments: [
            (
                ConfigurationError.unknownVariable("GRANTOR_X", suggestion: nil),
                "unknown environment variable GRANTOR_X"
            ),
            (
                .unknownVariable("GRANTOR_X", suggestion: "GRANTOR_Y"),
                "unknown environment variable GRANTOR_X; did you mean GRANTOR_Y?"
            ),
            (.unknownMember(place, suggestion: "users"), "apps.yaml:4: apps[0].sandbox: unknown; did you mean users?"),
            (.missing(.maxInFlight), "\(key) must be set"),
            (.empty(.maxInFlight), "\(key) is empty; give it a value, or do not set it"),
            (.invalid(.maxInFlight, requirement: "small"), "\(key) must be small"),
            (.contradiction(.maxInFlight, .logLevel, requirement: "contradict"), "\(key) and \(other) contradict"),
            (.invalidMember(place, requirement: "small"), "apps.yaml:4: apps[0].sandbox must be small"),
            (.duplicateMember(place), "apps.yaml:4: apps[0].sandbox: given twice"),
            (.file("f", .notThere, namedBy: .commandLine), "f: there is no such file"),
            (.file("f", .unreadable, namedBy: .key(.maxInFlight)), "\(key): f: the file cannot be read"),
            (
                .file("f", .forbidden, namedBy: .commandLine),
                "f: this user may not read the file, or not enter its folder"
            ),
            (.file("f", .folder, namedBy: .commandLine), "f: it is a folder, not a file"),
            (.file("f", .empty, namedBy: .member(place)), "apps.yaml:4: apps[0].sandbox: f: the file is empty"),
            (.file("f", .tooLarge(limit: 9), namedBy: .commandLine), "f: the file is larger than 9 bytes"),
            (.file("f", .notText, namedBy: .commandLine), "f: the file is not UTF-8 text"),
            (.syntax(file: "f", line: 3, problem: "not YAML"), "f:3: not YAML"),
            (.syntax(file: "f", line: nil, problem: "not YAML"), "f: not YAML"),
        ])
    func lines(error: ConfigurationError, line: String) {
        #expect(error.description == line)
    }

    @Test(
        "Line breaks and control characters of a name cannot break or forge a line",
        arguments: [
            ConfigurationError.file("a\ngrantor: all is well", .notThere, namedBy: .commandLine),
            .unknownVariable("GRANTOR_\u{1B}[2J", suggestion: nil),
            .unknownMember(ConfigurationError.Place(file: "f", line: 1, member: "a\r\nb"), suggestion: nil),
        ])
    func oneLine(error: ConfigurationError) {
        #expect(!error.description.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
}
