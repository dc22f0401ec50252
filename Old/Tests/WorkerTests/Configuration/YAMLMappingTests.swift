import Testing

@testable import Worker

@Suite("YAML mappings")
struct YAMLMappingTests {
    private func mapping(_ text: String) throws(ConfigurationError) -> YAMLMapping {
        try YAMLMapping(document: text, file: "f.yaml")
    }

    @Test("Numbers and truth values are texts, as written")
    func scalars() throws {
        let mapping = try mapping("number: 0042\nflag: yes\nquoted: 'null'\n")
        #expect(mapping.names == ["number", "flag", "quoted"])
        #expect(try mapping.text("number") == "0042")
        #expect(try mapping.text("flag") == "yes")
        #expect(try mapping.text("quoted") == "null")
        #expect(try mapping.text("absent") == nil)
    }

    @Test("A member of a list is placed by its line and its number")
    func places() throws {
        let apps = try mapping("apps:\n  - id: a\n  - id: b\n").mappings("apps")
        #expect(apps?.last?.place("id").description == "f.yaml:3: apps[1].id")
    }

    @Test("A name given twice is an error, however deep", arguments: ["a: 1\na: 2\n", "a:\n  b: 1\n  b: 2\n"])
    func duplicates(text: String) {
        let error = #expect(throws: ConfigurationError.self) { try mapping(text) }
        #expect(error?.description.hasSuffix("a name is given twice in one mapping") == true)
    }

    @Test(
        "What is no text where one is due is an error that does not show it",
        arguments: ["a: [canary]", "a: {canary: canary}", "a:", "a: ''", "a: ~", "a: null"])
    func noText(text: String) throws {
        let mapping = try mapping(text)
        let error = #expect(throws: ConfigurationError.self) { try mapping.text("a") }
        #expect(error?.description.hasPrefix("f.yaml:1: a must be ") == true)
        #expect(error?.description.contains("canary") == false)
    }

    @Test(
        "Text that is no YAML is an error that does not show it",
        arguments: ["a: 'canary", "a: *canary", "a: [canary", "canary: {", "a: b: canary", "--- 1\n--- canary\n"])
    func notYAML(text: String) {
        let error = #expect(throws: ConfigurationError.self) { try mapping(text) }
        #expect(error?.description.hasPrefix("f.yaml") == true)
        #expect(error?.description.contains("canary") == false)
    }

    @Test("Nesting beyond any sense is an error like others")
    func deepNesting() {
        #expect(throws: ConfigurationError.self) { try mapping("a: " + String(repeating: "[", count: 100_000)) }
    }
}
