import Contract
import Foundation
import Testing

@testable import AppStore

@Suite("Requests to the App Store Server API")
struct ServerAPIRequestTests {
    @Test("each has Apple's path")
    func paths() {
        #expect(ServerAPIRequest.transaction("12").path == "/inApps/v1/transactions/12")
        #expect(
            ServerAPIRequest.history("12", product: nil, revision: nil).path == "/inApps/v2/history/12?sort=ASCENDING")
        #expect(
            ServerAPIRequest.history("12", product: "a.b c", revision: "x/&=é").path
                == "/inApps/v2/history/12?sort=ASCENDING&productId=a.b%20c&revision=x%2F%26%3D%C3%A9")
    }

    @Test("an id of Apple's is 1 to 20 digits", arguments: ["0", "1", "2000000000000001", "12345678901234567890"])
    func ids(id: String) {
        #expect(TransactionID(id).isWellFormed)
    }

    @Test(
        "an id that is no id of Apple's leads nowhere",
        arguments: [
            "../../x", "1/../2", "1?a=b", "", "123456789012345678901", "1 ", "１２", "-1", "%31", "1\r\nHost: x", "1#",
            "٣",
        ])
    func injection(id: String) {
        let id = TransactionID(id)
        #expect(!id.isWellFormed)
        #expect(ServerAPIRequest.transaction(id).path == "/inApps/v1/transactions/0")
        #expect(
            ServerAPIRequest.history(id, product: nil, revision: nil).path == "/inApps/v2/history/0?sort=ASCENDING")
    }

    @Test("whatever a revision holds, it stays one value of the query", arguments: 0..<50 as Range<UInt64>)
    func encoding(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let scalars = (0..<40).compactMap { _ in Unicode.Scalar(UInt32.random(in: 0..<0x3000, using: &generator)) }
        let revision = String(String.UnicodeScalarView(scalars))
        let path = ServerAPIRequest.history("1", product: nil, revision: revision).path
        let value = path.dropFirst("/inApps/v2/history/1?sort=ASCENDING&revision=".count)
        #expect(value.utf8.allSatisfy { $0 == UInt8(ascii: "%") || $0 < 0x80 && !"&=#?/+ \r\n".utf8.contains($0) })
        #expect(value.removingPercentEncoding == revision)
    }

    @Test("Apple's limits are fifty a second, and a tenth of it in the sandbox")
    func limits() {
        #expect(ServerAPIRequest.requestsPerSecond(in: .production) == 50)
        #expect(ServerAPIRequest.requestsPerSecond(in: .sandbox) == 5)
    }
}
