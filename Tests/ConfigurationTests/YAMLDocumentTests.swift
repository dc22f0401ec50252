import Scheduling
import Testing

@testable import Configuration

@Suite("YAML documents")
struct YAMLDocumentTests {
    /// The error's line, or nil.
    private func refusal(_ text: String) -> String? {
        do throws(ConfigurationError) {
            _ = try YAMLDocument.read(text, file: "f.yaml")
            return nil
        } catch {
            return error.description
        }
    }

    @Test("Values come with the lines that they begin in")
    func values() throws {
        let root = try YAMLDocument.read("# first\na: 1\nb:\n  - x\n  - {c: ~}\n", file: "f.yaml")
        let expected = YAMLNode(
            content: .mapping([
                .init(name: "a", line: 2, value: YAMLNode(content: .scalar("1", isNull: false), line: 2)),
                .init(
                    name: "b", line: 3,
                    value: YAMLNode(
                        content: .sequence([
                            YAMLNode(content: .scalar("x", isNull: false), line: 4),
                            YAMLNode(
                                content: .mapping([
                                    .init(
                                        name: "c", line: 5,
                                        value: YAMLNode(content: .scalar("~", isNull: true), line: 5))
                                ]), line: 5),
                        ]), line: 4)),
            ]), line: 2)
        #expect(root == expected)
    }

    @Test("A text without values has no root", arguments: ["", "# nothing\n", "\n\n"])
    func empty(text: String) throws {
        #expect(try YAMLDocument.read(text, file: "f.yaml") == nil)
    }

    @Test("Texts that are not YAML are refused by file and line, and not shown")
    func notYAML() {
        #expect(refusal("a: 1\nb: 'canary\n")?.hasPrefix("f.yaml:3: not YAML: ") == true)
        #expect(
            refusal("a:\n\tcanary: 1\n")
                == "f.yaml:2: not YAML: found character that cannot start any token (a tab? use spaces)")
        #expect(refusal("a: b\nc: \u{1} canary\n") == "f.yaml:2: not YAML: control characters are not allowed")
        for text in ["a: [canary", "canary: {", "a: b: canary", "a: canary: 1\n"] {
            #expect(refusal(text)?.hasPrefix("f.yaml:") == true)
            #expect(refusal(text)?.contains("canary") == false)
        }
    }

    @Test(
        "Anchors, aliases, tags, a second document and names given twice are refused",
        arguments: [
            ("a: &x 1\n", "f.yaml:1: anchors and aliases are not read"),
            ("a: &x [1]\n", "f.yaml:1: anchors and aliases are not read"),
            ("a: 1\nb: *x\n", "f.yaml:2: anchors and aliases are not read"),
            ("a: !!str 1\n", "f.yaml:1: tags are not read"),
            ("a: !own {b: 1}\n", "f.yaml:1: tags are not read"),
            ("a: 1\n---\nb: 2\n", "f.yaml:2: a second document begins here"),
            ("a: 1\nb: 2\na: 3\n", "f.yaml:3: a is given twice"),
            ("a: {b: 1, 'b': 2}\n", "f.yaml:1: b is given twice"),
            ("[a]: 1\n", "f.yaml:1: the name of a value is not a text"),
            ("~: 1\n", "f.yaml:1: the name of a value is not a text"),
        ])
    func refused(text: String, line: String) {
        #expect(refusal(text) == line)
    }

    @Test("A merge key is a name like others")
    func mergeKey() throws {
        #expect(try YAMLMapping(text: "<<: {a: 1}\n", file: "f.yaml").names == ["<<"])
    }

    @Test("Nesting ends at its limit, before libyaml's time grows", .timeLimit(.minutes(1)))
    func depth() {
        let limit = YAMLDocument.maxDepth
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(refusal(nested(limit)) == nil)
        #expect(refusal(nested(limit + 1)) == "f.yaml:1: more than 32 levels are nested")
        #expect(refusal(String(repeating: "[", count: 500_000)) == "f.yaml:1: more than 32 levels are nested")
        #expect(refusal(String(repeating: "{a: ", count: 200_000)) == "f.yaml:1: more than 32 levels are nested")
    }

    @Test("Any text is read or refused by a line of the file", .timeLimit(.minutes(1)))
    func anyText() {
        let pieces = [
            "a", "b: ", ": ", "- ", "? ", "[", "]", "{", "}", ",", "&x ", "*x", "!t ", "|\n", ">\n", "'", "\"", "\\",
            "#",
            "%YAML 1.2\n", "---\n", "...\n", "\n", "  ", "\t", "~", "<<", "\u{1}", "\u{FEFF}", "é", "\0",
        ]
        // Every run tries the same texts.
        var random = SplitMix64(seed: 42)
        func draw(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        var refused = 0
        for _ in 0..<20_000 {
            let text = (0..<draw(30)).map { _ in pieces[draw(pieces.count)] }.joined()
            let lines = text.count { $0.isNewline } + 2
            guard let refusal = refusal(text), refusal.hasPrefix("f.yaml:") else { continue }
            refused += 1
            let line = Int(refusal.dropFirst("f.yaml:".count).prefix { $0.isNumber })
            #expect(line.map { (1...lines).contains($0) } == true, "\(text.debugDescription): \(refusal)")
        }
        #expect((10_000..<20_000).contains(refused))
    }
}
