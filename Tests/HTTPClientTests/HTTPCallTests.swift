import Testing

@testable import HTTPClient

struct HTTPBodyTests {
    @Test(
        "A body is its parts, one after another",
        arguments: [[], [[]], [[1, 2, 3]], [[1], [], [2, 3]], [[], [9]]] as [[[UInt8]]])
    func parts(parts: [[UInt8]]) {
        let body = HTTPBody(parts.map { $0[...] })

        #expect(body.bytes == Array(parts.joined()))
        #expect(body.count == parts.joined().count)
    }

    @Test("A part may be a part of something itself")
    func nested() {
        let whole: [UInt8] = [1, 2, 3, 4, 5]

        #expect(HTTPBody([whole[3...], whole[2..<2], whole[1..<3]]).bytes == [4, 5, 2, 3])
    }
}
