import Purchases
import Testing

@testable import AppStore

@Suite("Error codes of the App Store Server API")
struct ServerAPIErrorCodeTests {
    @Test(
        "every code that a look-up can meet has one disposition",
        arguments: [
            (4_000_000, ServerAPIErrorCode.Disposition.requestRefused), (4_000_002, .credentialsRefused),
            (4_000_005, .restartPaging), (4_000_014, .restartPaging), (4_000_017, .restartPaging),
            (4_000_006, .rejected(.transactionNotFound)), (4_000_008, .rejected(.transactionNotFound)),
            (4_000_048, .rejected(.transactionNotFound)), (4_040_001, .accountNotFound),
            (4_040_002, .temporarilyUnable), (4_040_003, .credentialsRefused), (4_040_004, .temporarilyUnable),
            (4_040_005, .notFound), (4_040_006, .temporarilyUnable), (4_040_010, .notFound),
            (4_290_000, .rateLimited), (5_000_000, .temporarilyUnable), (5_000_001, .temporarilyUnable),
        ])
    func codes(code: Int, disposition: ServerAPIErrorCode.Disposition) {
        #expect(ServerAPIErrorCode.disposition(of: code, httpStatus: code / 10_000) == disposition)
    }

    @Test("filters, and what other endpoints answer, are faults of our request and never of the player's")
    func ourFaults() {
        let ours =
            Array(4_000_009...4_000_013) + [4_000_015, 4_000_016] + Array(4_000_018...4_000_028)
            + Array(4_000_030...4_000_043) + [
                4_000_047, 4_000_183, 4_000_185, 4_000_187, 4_030_004, 4_030_005, 4_030_007, 4_040_007, 4_040_008,
                4_040_009, 4_040_019,
            ]
        for code in ours {
            #expect(ServerAPIErrorCode.disposition(of: code, httpStatus: code / 10_000) == .requestRefused, "\(code)")
        }
        #expect(ServerAPIErrorCode.table.count == ours.count + 18)
    }

    @Test(
        "without a code that is known the HTTP status decides",
        arguments: [
            (4_000_999, 400, ServerAPIErrorCode.Disposition.unknown), (4_030_001, 403, .unknown),
            (4_040_999, 404, .unknown), (4_290_001, 429, .rateLimited), (5_009_999, 500, .noAnswer),
            (0, 503, .noAnswer), (-1, 401, .tokenRefused), (.max, 404, .unknown), (.min, 500, .noAnswer),
            (4_000_006, 503, .noAnswer), (4_040_010, 401, .tokenRefused), (4_040_010, 200, .noAnswer),
            (nil, 400, .noAnswer), (nil, 401, .tokenRefused), (nil, 404, .noAnswer), (nil, 429, .rateLimited),
            (nil, 500, .noAnswer), (nil, 302, .noAnswer), (nil, 204, .noAnswer), (nil, 0, .noAnswer),
        ] as [(Int?, Int, ServerAPIErrorCode.Disposition)])
    func statuses(code: Int?, status: Int, disposition: ServerAPIErrorCode.Disposition) {
        #expect(ServerAPIErrorCode.disposition(of: code, httpStatus: status) == disposition)
    }

    @Test("the table is in Apple's order, each code and name once")
    func rows() {
        let codes = ServerAPIErrorCode.table.map(\.code)
        #expect(codes == Set(codes).sorted())
        #expect(Set(ServerAPIErrorCode.table.map(\.name)).count == codes.count)
        #expect(codes.allSatisfy { (400...599).contains($0 / 10_000) })
    }

    @Test("what Apple calls retryable is retried")
    func retryable() {
        for row in ServerAPIErrorCode.table where row.name.hasSuffix("Retryable") {
            #expect(row.disposition == .temporarilyUnable)
        }
    }
}
