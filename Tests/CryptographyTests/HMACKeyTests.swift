import Cryptography
import Testing

@Suite("HMACKey")
struct HMACKeyTests {
    @Test("gives the codes of RFC 4231")
    func vectors() throws {
        let first = try #require(HMACKey([UInt8](repeating: 0x0b, count: 20)))
        #expect(
            first.authenticationCode(for: "Hi There".utf8).hex
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        let second = try #require(HMACKey("Jefe".utf8))
        #expect(
            second.authenticationCode(for: "what do ya want for nothing?".utf8).hex
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let long = try #require(HMACKey([UInt8](repeating: 0xaa, count: 131)))
        #expect(
            long.authenticationCode(for: "Test Using Larger Than Block-Size Key - Hash Key First".utf8).hex
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test("a key gives the same code each time, also after other messages and an empty one")
    func usedAgain() throws {
        let key = try #require(HMACKey("Jefe".utf8))
        let code = key.authenticationCode(for: "a".utf8)
        let empty = key.authenticationCode(for: [])
        #expect(key.authenticationCode(for: "a".utf8) == code)
        #expect(key.authenticationCode(for: []) == empty)
        #expect(code != empty)
    }

    @Test("a code is valid for its message alone")
    func validity() throws {
        let key = try #require(HMACKey("Jefe".utf8))
        let code = key.authenticationCode(for: "a".utf8).bytes
        #expect(key.isValid(code, for: "a".utf8))
        #expect(!key.isValid(code, for: "b".utf8))
        #expect(!key.isValid(code.dropLast(), for: "a".utf8))
        #expect(!key.isValid([], for: "a".utf8))
    }

    @Test("an empty key is refused, and none is ever described")
    func secrecy() throws {
        #expect(HMACKey([]) == nil)
        let key = try #require(HMACKey("Jefe".utf8))
        #expect("\(key)" == "HMACKey")
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!dumped.contains("Jefe"))
    }
}
