import Configuration
import HTTPServer
import Testing

@testable import Commands

@Suite("Bearer tokens")
struct BearerTokensTests {
    private static let tokens = BearerTokens([SecretText(APITesting.token), SecretText(APITesting.otherToken)])

    private func place(_ field: String) throws -> Int? {
        var reader = HeadReader()
        reader.append(Array("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n".utf8))
        return Self.tokens.place(of: try #require(try reader.next()))
    }

    @Test("A request with a token is that token's")
    func known() throws {
        #expect(try place("Authorization: Bearer \(APITesting.token)\r\n") == 0)
        #expect(try place("authorization: bearer  \(APITesting.otherToken)\r\n") == 1)
    }

    @Test(
        "Every other request is nobody's",
        arguments: [
            "", "Authorization: Bearer\r\n", "Authorization: Bearer \r\n", "Authorization: \(APITesting.token)\r\n",
            "Authorization: Basic \(APITesting.token)\r\n", "Authorization: Bearer \(APITesting.token)x\r\n",
            "Authorization: Bearer \(APITesting.token.dropLast())\r\n",
            "Authorization: Bearer \(APITesting.token.uppercased())\r\n",
            "Authorization: Bearer \(APITesting.token) \(APITesting.token)\r\n",
            "Authorization: Bearer \(APITesting.token)\r\nAuthorization: Bearer \(APITesting.token)\r\n",
            "X-Authorization: Bearer \(APITesting.token)\r\n",
        ])
    func unknown(field: String) throws { #expect(try place(field) == nil) }

    @Test("Without tokens nobody may ask")
    func none() throws { #expect(BearerTokens([]).place(of: try APITesting.head("/")) == nil) }
}
