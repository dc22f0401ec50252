import Testing

@testable import Contract

@Suite("Members of strict JSON")
struct StrictJSONMembersTests {
    @Test("keeps as many members as are allowed, and none beyond")
    func mostMembers() throws {
        let names = (0..<StrictJSON.maxMembers).map { "m\($0)" }
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
        arguments: [2, 31, 32, 33, 34, StrictJSON.maxMembers])
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
        let names = (0..<StrictJSON.maxMembers).map { "m\($0)" }
        for place in [0, 1, 40, StrictJSON.maxMembers] {
            var members = names.map { "\"\($0)\":1" }
            members.insert(contentsOf: ["\"twice\":1", "\"twice\":2"], at: place)
            let object = try StrictJSON(Array("{\(members.joined(separator: ","))}".utf8))
            if place < StrictJSON.maxMembers {
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
        let members = (0...StrictJSON.maxMembers).map { "\"m\($0)\":1" }.joined(separator: ",")
        #expect(try StrictJSON(Array("{\(members)}".utf8)).flaws == [.tooManyMembers])
        #expect(try StrictJSON(Array("{\"x\":{\(members)}}".utf8)).flaws == [.tooManyMembers])
    }
}
