import FileTesting
import Testing

@testable import Configuration

@Suite("YAML mappings")
struct YAMLMappingTests {
    private func mapping(_ text: String) throws(ConfigurationError) -> YAMLMapping {
        try YAMLMapping(text: text, file: "f.yaml")
    }

    @Test("Numbers and truth values are texts, as written")
    func scalars() throws {
        let mapping = try mapping("number: 0042\nflag: yes\nquoted: 'null'\n")
        #expect(mapping.names == ["number", "flag", "quoted"])
        #expect(try mapping.text("number") == "0042")
        #expect(try mapping.text("flag") == "yes")
        #expect(try mapping.text("quoted") == "null")
        #expect(try mapping.text("absent") == nil)
        #expect(mapping.isScalar("number") && !mapping.isScalar("absent"))
    }

    @Test("A member of a list is placed by its line and its number")
    func places() throws {
        let root = try mapping("apps:\n  - id: a\n  - id: b\n")
        #expect(try root.mappings("apps")?.last?.place("id").description == "f.yaml:3: apps[1].id")
        #expect(try root.mappings("apps")?.last?.place("absent").description == "f.yaml:3: apps[1].absent")
        #expect(root.place("apps", at: 1).description == "f.yaml:3: apps[1]")
        #expect(root.place("absent").description == "f.yaml: absent")
    }

    @Test(
        "A member that is no text where one is due is an error that does not show it",
        arguments: [
            "a: [canary]", "a: {canary: canary}", "a:", "a: ''", "a: ~", "a: null", "a: \"canary\\0\"",
            "a: |\n  canary\n", "a: \"\\uFFFD canary\"",
        ])
    func noText(text: String) throws {
        let mapping = try mapping(text)
        let error = #expect(throws: ConfigurationError.self) { try mapping.text("a") }
        #expect(error?.description.hasPrefix("f.yaml:1: a must be ") == true)
        #expect(error?.description.contains("canary") == false)
    }

    @Test("A mistake is in the line of the name, also where the value begins below it")
    func lines() throws {
        let mapping = try mapping("a: 1\nb:\n  - c\n")
        #expect(mapping.place("b") == .member(file: "f.yaml", line: 2, path: "b"))
        #expect(mapping.place("b", at: 0) == .member(file: "f.yaml", line: 3, path: "b[0]"))
    }

    @Test("A root that is no mapping is refused", arguments: ["- a\n", "a\n"])
    func root(text: String) {
        let error = #expect(throws: ConfigurationError.self) { try mapping(text) }
        #expect(error?.description == "f.yaml:1 must be a mapping of names to values")
    }

    @Test("A file of more than 1 MiB is refused")
    func large() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(String(repeating: "#", count: YAMLMapping.maxFileBytes + 1), to: "large.yaml")
        #expect(throws: ConfigurationError.file(file, .tooLarge(limit: 1 << 20), namedBy: nil)) {
            try YAMLMapping(file: file, namedBy: nil)
        }
    }
}
