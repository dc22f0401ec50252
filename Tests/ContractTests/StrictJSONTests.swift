import Foundation
import Scheduling
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

    @Test("reads an array of strings, up to so many, and nothing else as one")
    func texts() throws {
        let json = #"""
            {"all":["a\u00e9", "b"],"empty":[],"mixed":["a",1],"nested":[["a"]],"text":"a","three":["a","b","c"]}
            """#
        let members = try StrictJSON(Array(json.utf8)).members
        #expect(members.texts(of: "all", most: 2) == ["aé", "b"])
        #expect(members.texts(of: "empty", most: 2) == [])
        for name in ["mixed", "nested", "text", "three", "absent"] {
            #expect(members.texts(of: name, most: 2) == nil)
        }
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
        #expect(throws: JSONUnreadable.self) { try StrictJSON(Array(text.utf8)) }
    }

    @Test("refuses bytes that are not UTF-8", arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE2, 0x82]])
    func notUTF8(_ bytes: [UInt8]) {
        let text = Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)
        #expect(throws: JSONUnreadable(reason: "not UTF-8")) { try StrictJSON(text) }
    }

    @Test("finds the end of a string, and what is special in it, at any place", arguments: 0..<40)
    func specialAtAnyPlace(place: Int) throws {
        for length in place..<48 {
            // Among letters, and among bytes that differ from the special ones in their highest bit alone.
            for filler in ["a", "\u{00A2}", "\u{0722}"] {
                let before = String(repeating: filler, count: place)
                let after = String(repeating: filler, count: length - place)
                func value(_ middle: String) throws -> JSONValue? {
                    try StrictJSON(Array("{\"a\":\"\(before)\(middle)\(after)\"}".utf8)).members["a"]
                }
                #expect(try value("!") == .string("\(before)!\(after)"))
                #expect(try value("\\\"") == .string("\(before)\"\(after)"))
                #expect(throws: JSONUnreadable.self) { try value("\u{1F}") }
                #expect(throws: JSONUnreadable.self) { try value("\"") }
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
        #expect(throws: JSONUnreadable.self) {
            try StrictJSON(Array(("{\"a\":" + String(repeating: "{\"a\":", count: 100_000)).utf8))
        }
    }

    @Test("agrees with Foundation on which texts are JSON", arguments: 0..<20)
    func agreesWithFoundation(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
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
            // Others accept everything that we accept. Foundation is more lenient in places.
            if ours { #expect(foundation, "\(String(decoding: bytes, as: UTF8.self))") }
        }
    }
}

@Suite("Members of strict JSON")
struct StrictJSONMembersTests {
    @Test("keeps as many members as are allowed, and none beyond")
    func mostMembers() throws {
        let names = (0..<JSONFlaw.maxMembers).map { "m\($0)" }
        let members = names.map { "\"\($0)\":1" }.joined(separator: ",")
        let full = try StrictJSON(Array("{\(members)}".utf8))
        #expect(full.members.names == names)
        for name in names { #expect(full.members[name] == .number("1")) }
        #expect(full.flaws.isEmpty)
        let beyond = try StrictJSON(Array("{\(members),\"x\":1,\"m0\":2}".utf8))
        #expect(beyond.members["x"] == nil)
        #expect(beyond.flaws == [.tooManyMembers, .duplicateMember("m0")])
    }

    @Test("keeps neither value of a member that stands twice, however it is spelled")
    func duplicates() throws {
        let object = try StrictJSON(Array(#"{"a":"1","b":"2","\u0061":"3","a":"4"}"#.utf8))
        #expect(object.members.names == ["b"])
        #expect(object.members["a"] == nil)
        #expect(object.members.bytes(of: "a") == nil)
        #expect(object.members["b"] == .string("2"))
        #expect(object.flaws == [.duplicateMember("a")])
        #expect(try StrictJSON(Array(#"{"x":[{"y":1,"y":2}]}"#.utf8)).flaws == [.duplicateNestedMember])
    }

    @Test(
        "notices one that stands twice among few and among many, wherever it stands",
        arguments: [2, 31, 32, 33, 34, JSONFlaw.maxMembers])
    func duplicateAmong(count: Int) throws {
        for twice in [0, count / 2, count - 1] {
            for spelling in ["m\(twice)", "\\u006d\(twice)"] {
                let members = (0..<count).map { "\"m\($0)\":1" } + ["\"\(spelling)\":2"]
                let object = try StrictJSON(Array("{\(members.joined(separator: ","))}".utf8))
                #expect(object.flaws == [.duplicateMember("m\(twice)")])
                #expect(object.members.names == (0..<count).filter { $0 != twice }.map { "m\($0)" })
                #expect(object.members["m\(twice)"] == nil)
            }
        }
    }

    @Test("a member that stands twice takes no room from others, wherever it stands again")
    func duplicatesAndRoom() throws {
        let names = (0..<JSONFlaw.maxMembers).map { "m\($0)" }
        for place in [0, 1, 40, JSONFlaw.maxMembers] {
            var members = names.map { "\"\($0)\":1" }
            members.insert(contentsOf: ["\"twice\":1", "\"twice\":2"], at: place)
            let object = try StrictJSON(Array("{\(members.joined(separator: ","))}".utf8))
            if place < JSONFlaw.maxMembers {
                #expect(object.flaws == [.duplicateMember("twice")])
                #expect(object.members.names == names)
            } else {
                #expect(object.flaws == [.tooManyMembers])
            }
        }
    }

    @Test("long names are told apart by their last byte, and found again", arguments: [63, 64, 65, 2000])
    func longNames(length: Int) throws {
        let names = ["a", "b", "c"].map { String(repeating: "n", count: length - 1) + $0 }
        let members = (names + [names[1]]).map { "\"\($0)\":\"\($0.suffix(1))\"" }.joined(separator: ",")
        let object = try StrictJSON(Array("{\(members)}".utf8))
        #expect(object.members.names == [names[0], names[2]])
        #expect(object.members[names[0]] == .string("a"))
        #expect(object.members[names[1]] == nil)
        #expect(object.members[names[2]] == .string("c"))
        #expect(object.flaws == [.duplicateMember(names[1])])
    }

    @Test("names are the same if their bytes are, at every level")
    func namesAsBytes() throws {
        // The same letter in two spellings of Unicode.
        let object = try StrictJSON(Array(#"{"\u00e9":1,"e\u0301":2,"x":{"\u00e9":1,"e\u0301":2}}"#.utf8))
        #expect(object.flaws.isEmpty)
        #expect(object.members["\u{e9}"] == .number("1"))
        #expect(object.members["e\u{301}"] == .number("2"))
        let twice = try StrictJSON(Array(#"{"\u00e9":1,"e\u0301":2,"\u00e9":3,"e\u0301":4}"#.utf8))
        #expect(twice.flaws == [.duplicateMember("\u{e9}"), .duplicateMember("e\u{301}")], "one of each")
    }

    @Test("gives a string's bytes as they stand, or as its escapes make them")
    func bytes() throws {
        let text = Array(#"{"plain":"aé","escaped":"a\u00e9\n","empty":"","number":1,"none":null}"#.utf8)
        let members = try StrictJSON(text).members
        let plain = try #require(members.bytes(of: "plain"))
        #expect(Array(plain) == Array("aé".utf8))
        // A part of the text and no copy, so it stands where it stood.
        #expect(plain.startIndex == 10)
        #expect(members.bytes(of: "escaped").map { Array($0) } == Array("aé\n".utf8))
        #expect(members.bytes(of: "empty").map { Array($0) } == [])
        for name in ["number", "none", "absent"] { #expect(members.bytes(of: name) == nil) }
    }

    @Test("notices an object with too many members")
    func manyMembers() throws {
        let members = (0...JSONFlaw.maxMembers).map { "\"m\($0)\":1" }.joined(separator: ",")
        #expect(try StrictJSON(Array("{\(members)}".utf8)).flaws == [.tooManyMembers])
        #expect(try StrictJSON(Array("{\"x\":{\(members)}}".utf8)).flaws == [.tooManyMembers])
    }
}
