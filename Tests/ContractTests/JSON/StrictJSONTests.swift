import Foundation
import Testing

@testable import Contract

@Suite("Strict JSON")
struct StrictJSONTests {
    @Test("reads members of every kind")
    func membersOfEveryKind() throws {
        let object = try StrictJSON(
            Array(
                #" { "s" : "a\u00e9\ud83d\ude00\/\n", "n": -1.5e+3, "b":true, "z":null, "o":{"x":[1,{}]}, "a":[] } "#
                    .utf8))
        #expect(object.members["s"] == .string("aé😀/\n"))
        #expect(object.members["n"] == .number("-1.5e+3"))
        #expect(object.members["b"] == .boolean(true))
        #expect(object.members["z"] == .null)
        #expect(object.members["o"] == .object)
        #expect(object.members["a"] == .array)
        #expect(object.flaws.isEmpty)
    }

    @Test(
        "refuses what is not one JSON object",
        arguments: [
            "", " ", "null", "[]", "\"a\"", "{", "{}}", "{} x", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}",
            "{\"a\":01}",
            "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1e}", "{\"a\":+1}", "{\"a\":tru}", "{\"a\":'b'}", "{a:1}",
            "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\ud800\\u0041\"}",
            "{\"a\":\"\u{01}\"}", "{\"a\":\"b}", "{\"a\":[1,]}", "{\"a\":[1}", "{\"a\":{\"b\":1]}", "{\"a\":[}",
            "{\"a\":{\"b\"}}", "{\"a\":1 \"b\":2}", "{\"a\":NaN}",
        ])
    func refused(_ text: String) {
        #expect(throws: StrictJSON.Unreadable.self) { try StrictJSON(Array(text.utf8)) }
    }

    @Test("refuses bytes that are not UTF-8", arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE2, 0x82]])
    func notUTF8(_ bytes: [UInt8]) {
        let text = Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)
        #expect(throws: StrictJSON.Unreadable(reason: "not UTF-8")) { try StrictJSON(text) }
    }

    @Test("finds the end of a string, and what is special in it, at any place", arguments: 0..<40)
    func specialAtAnyPlace(place: Int) throws {
        for length in place..<48 {
            // Among letters, and among bytes that differ from the special ones in their highest bit alone.
            for filler in ["a", "\u{00A2}", "\u{0722}"] {
                let before = String(repeating: filler, count: place)
                let after = String(repeating: filler, count: length - place)
                func value(_ middle: String) throws -> StrictJSON.Value? {
                    try StrictJSON(Array("{\"a\":\"\(before)\(middle)\(after)\"}".utf8)).members["a"]
                }
                #expect(try value("!") == .string("\(before)!\(after)"))
                #expect(try value("\\\"") == .string("\(before)\"\(after)"))
                #expect(throws: StrictJSON.Unreadable.self) { try value("\u{1F}") }
                #expect(throws: StrictJSON.Unreadable.self) { try value("\"") }
            }
        }
    }

    @Test("passes over a byte order mark")
    func byteOrderMark() throws {
        #expect(try StrictJSON([0xEF, 0xBB, 0xBF] + Array("{\"a\":\"b\"}".utf8)).members["a"] == .string("b"))
    }

    @Test("resolves escapes wherever they stand, between pieces of any length", arguments: 0..<40)
    func escapesAnywhere(length: Int) throws {
        let piece = String(repeating: "A", count: length)
        let escapes = [("\\/", "/"), ("\\\\", "\\"), ("\\u00e9", "é"), ("\\ud83d\\ude00", "😀"), ("\\t", "\t")]
        for (first, firstText) in escapes {
            for (second, secondText) in escapes {
                let text = #"{"a":"\#(piece)\#(first)\#(second)\#(piece)\#(first)"}"#
                let expected = piece + firstText + secondText + piece + firstText
                let members = try StrictJSON(Array(text.utf8)).members
                #expect(members["a"] == .string(expected))
                #expect(members.bytes(of: "a").map { Array($0) } == Array(expected.utf8))
            }
        }
    }

    @Test("notices depth without using the stack")
    func depth() throws {
        let deep = String(repeating: "[", count: 200_000) + String(repeating: "]", count: 200_000)
        let object = try StrictJSON(Array("{\"a\":\(deep),\"b\":\"c\"}".utf8))
        #expect(object.flaws == [.tooDeep])
        #expect(object.members["b"] == .string("c"))
        #expect(throws: StrictJSON.Unreadable.self) {
            try StrictJSON(Array(("{\"a\":" + String(repeating: "{\"a\":", count: 100_000)).utf8))
        }
    }

    @Test("agrees with Foundation on which texts are JSON", arguments: 0..<20)
    func agreesWithFoundation(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array(#"{}[]:,"\ abu0019.eE+-truefalsnl"#.utf8)
        let valid = Array(#"{"a":{"b":[1,2.5e3,"c\n"],"d":null},"e":true,"f":"\u00e9"}"#.utf8)
        for _ in 0..<2_000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                if Bool.random(using: &generator) {
                    bytes[index] = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                } else {
                    bytes.remove(at: index)
                }
            }
            let foundation = (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
            let ours = (try? StrictJSON(bytes)) != nil
            // Whatever we accept, others accept; the reverse may differ where Foundation is lenient.
            if ours { #expect(foundation, "\(String(decoding: bytes, as: UTF8.self))") }
        }
    }
}
