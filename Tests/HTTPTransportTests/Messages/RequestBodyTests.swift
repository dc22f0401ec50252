import Testing

@testable import HTTPTransport

struct RequestBodyTests {
    @Test(arguments: [[], [[]], [[1, 2, 3]], [[1], [], [2, 3]], [[], [9]]] as [[[UInt8]]])
    func `a body is its parts, one after another`(parts: [[UInt8]]) {
        let body = RequestBody(parts)

        #expect(body.bytes == Array(parts.joined()))
        #expect(body.count == parts.joined().count)
    }
}
