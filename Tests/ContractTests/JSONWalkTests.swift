import Foundation
import Scheduling
import Testing

@testable import Contract

@Suite("A walk through JSON")
struct JSONWalkTests {
    private static let names = JSONNameList(["a", "list"])

    /// Walks `{"a": ..., "list": [...]}` at any depth and returns the scalars named `a`, in order.
    private func scalars(_ json: String) throws(JSONUnreadable) -> [JSONValue?] {
        var found: [JSONValue?] = []
        var walk = try JSONWalk(Array(json.utf8))
        try walk.members { walk, name throws(JSONUnreadable) in
            switch walk.index(of: name, in: Self.names) {
            case 0: found.append(try walk.scalar())
            case 1 where walk.kind == .array:
                try walk.elements { walk throws(JSONUnreadable) in found.append(try walk.scalar()) }
            default: break
            }
        }
        try walk.end()
        return found
    }

    /// Whether a walk that takes nothing gets to the end.
    private func passes(_ bytes: [UInt8]) -> Bool {
        guard var walk = try? JSONWalk(bytes), (try? walk.pass()) != nil else { return false }
        return (try? walk.end()) != nil
    }

    @Test("takes what is asked for, of members that stand twice both, and passes over the rest")
    func taken() throws {
        let json = #" { "x" : {"a":[1,{"a":2}]} , "a":1.50,"list":[ "b" ,null,[1],{}, true ], "\u0061" : "\u00e9\n" } "#
        #expect(
            try scalars(json) == [
                .number("1.50"), .string("b"), .null, nil, nil, .boolean(true), .string("\u{e9}\n"),
            ])
        #expect(try scalars("{}") == [])
        #expect(try scalars(#"{"list":[],"a":[],"a":"ü"}"#) == [nil, .string("ü")])
    }

    @Test(
        "refuses a text that is damaged anywhere, also in what nobody asked for",
        arguments: [
            "", " ", "{", "}", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,}", "{\"a\":1}}", "{\"a\":1} x",
            "{a:1}",
            "{\"x\":[1,]}", "{\"x\":[1 2]}", "{\"x\":[1}}", "{\"x\":{\"y\":1]}", "{\"x\":{,}}", "{\"x\":{\"y\"}}",
            "{\"x\":01}",
            "{\"x\":1.}", "{\"x\":+1}", "{\"x\":tru}", "{\"x\":\"\u{1}\"}", "{\"x\":\"\\q\"}", "{\"x\":\"\\ud800\"}",
            "{\"x\":\"",
            "{\"x\":\u{0}1}", "{\"x\":[[[]]}", "{,}", "{\"list\":[1,,2]}", "{\"list\":[,1]}",
        ])
    func damaged(json: String) {
        #expect(throws: JSONUnreadable.self) { try scalars(json) }
    }

    @Test("refuses what is not UTF-8, and nesting beyond its limit")
    func extremes() {
        #expect(!passes(Array("\"".utf8) + [0xFF] + Array("\"".utf8)))
        let atLimit = JSONWalk.maxDepth
        #expect(passes(Array((String(repeating: "[", count: atLimit) + String(repeating: "]", count: atLimit)).utf8)))
        #expect(
            !passes(
                Array((String(repeating: "[", count: atLimit + 1) + String(repeating: "]", count: atLimit + 1)).utf8)))
        #expect(!passes([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)))
    }

    @Test("passes what Foundation reads, and nothing that it does not, but for a comma too many")
    func mutated() {
        var random = SplitMix64(seed: 7)
        let base = Array(
            #"{"status":0,"x":[1,-2.5e3,"a\"b\u00e9",null,true,{"y":{}}],"z":"ü","e":[],"n":{"a":{"b":[[]]}}}"#.utf8)
        let alphabet = Array("{}[]\",:\\0123456789eE+-.tfnul \u{1}xü".utf8)
        for _ in 0..<20_000 {
            var bytes = base
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                case 1: bytes.insert(alphabet[Int.random(in: 0..<alphabet.count, using: &random)], at: place)
                default: bytes.remove(at: place)
                }
            }
            let isValid = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
            let text = String(decoding: bytes, as: UTF8.self)
            guard !text.contains(/,\s*[\]}]/) else { continue }
            #expect(passes(bytes) == isValid, "\(text)")
        }
    }
}

@Suite("A list of names")
struct JSONNameListTests {
    @Test("finds each of its names and no other")
    func found() {
        let list = JSONNameList(["a", "", "bcd", "bce", "é", "a"])
        let expected: [(String, Int?)] = [
            ("a", 0), ("", 1), ("bcd", 2), ("bce", 3), ("é", 4), ("e\u{301}", nil), ("bc", nil), ("bcdb", nil),
            ("A", nil),
        ]
        for (name, index) in expected {
            let bytes = Array(name.utf8)
            #expect(list.index(of: bytes.span) == index, "\(name)")
        }
    }

    @Test("has none where there is none")
    func empty() {
        let bytes = Array("a".utf8)
        #expect(JSONNameList([]).index(of: bytes.span) == nil)
    }
}
