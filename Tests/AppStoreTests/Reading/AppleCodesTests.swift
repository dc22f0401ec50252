import Testing

@testable import AppStore

@Suite("Apple's codes")
struct AppleCodesTests {
    @Test("of verifyReceipt stand in Apple's order, none twice")
    func statusOrder() {
        for (earlier, later) in zip(AppleCodes.statuses, AppleCodes.statuses.dropFirst()) {
            #expect(earlier.codes.upperBound < later.codes.lowerBound)
        }
    }

    @Test(
        "of verifyReceipt that Apple has not documented are unknown",
        arguments: [-1, 1, 200, 20999, 21001, 21011, 21099, 21200, .max])
    func unknownStatus(status: Int) {
        #expect(AppleCodes.meaning(ofStatus: status) == .unknown)
    }

    @Test(
        "of the App Store Server API have one meaning for a look-up",
        arguments: [
            (4_000_000, AppleCodes.ErrorMeaning.requestRefused), (4_000_002, .credentialsRefused),
            (4_000_005, .restartPaging), (4_000_014, .restartPaging), (4_000_017, .restartPaging),
            (4_000_006, .idRefused), (4_000_008, .idRefused), (4_000_048, .idRefused), (4_040_001, .accountNotFound),
            (4_040_002, .temporarilyUnable), (4_040_003, .credentialsRefused), (4_040_004, .temporarilyUnable),
            (4_040_005, .notFound), (4_040_006, .temporarilyUnable), (4_040_010, .notFound),
            (4_290_000, .rateLimited), (5_000_000, .temporarilyUnable), (5_000_001, .temporarilyUnable),
        ])
    func errors(code: Int, meaning: AppleCodes.ErrorMeaning) {
        #expect(AppleCodes.meaning(ofError: code, httpStatus: code / 10_000) == meaning)
    }

    @Test("about filters and other calls are faults of our request, and never of the player's")
    func ourFaults() {
        let ours =
            [4_000_000] + Array(4_000_009...4_000_013) + [4_000_015, 4_000_016] + Array(4_000_018...4_000_028)
            + Array(4_000_030...4_000_043) + [
                4_000_047, 4_000_183, 4_000_185, 4_000_187, 4_030_004, 4_030_005, 4_030_007, 4_040_007, 4_040_008,
                4_040_009, 4_040_019,
            ]
        for code in ours {
            #expect(AppleCodes.meaning(ofError: code, httpStatus: code / 10_000) == .requestRefused, "\(code)")
        }
        #expect(AppleCodes.requestErrors.flatMap(Array.init) == ours)
    }

    @Test(
        "leave the decision to the HTTP status where they are unknown, or not that status's",
        arguments: [
            (4_000_999, 400, AppleCodes.ErrorMeaning.unknown), (4_030_001, 403, .unknown), (4_040_999, 404, .unknown),
            (4_290_001, 429, .rateLimited), (5_009_999, 500, .noAnswer), (0, 503, .noAnswer),
            (-1, 401, .tokenRefused), (.max, 404, .unknown), (.min, 500, .noAnswer), (4_000_006, 503, .noAnswer),
            (4_040_010, 401, .tokenRefused), (4_040_010, 200, .noAnswer), (nil, 400, .noAnswer),
            (nil, 401, .tokenRefused), (nil, 404, .noAnswer), (nil, 429, .rateLimited), (nil, 500, .noAnswer),
            (nil, 302, .noAnswer), (nil, 204, .noAnswer), (nil, 0, .noAnswer),
        ] as [(Int?, Int, AppleCodes.ErrorMeaning)])
    func httpStatuses(code: Int?, status: Int, meaning: AppleCodes.ErrorMeaning) {
        #expect(AppleCodes.meaning(ofError: code, httpStatus: status) == meaning)
    }

    @Test("of the App Store Server API stand in Apple's order, each code and name once")
    func errorOrder() {
        let codes = AppleCodes.errors.map(\.code)
        #expect(codes == Set(codes).sorted())
        #expect(Set(AppleCodes.errors.map(\.name)).count == codes.count)
        for row in AppleCodes.errors where row.name.hasSuffix("Retryable") {
            #expect(row.meaning == .temporarilyUnable)
        }
    }
}
