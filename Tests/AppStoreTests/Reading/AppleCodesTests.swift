import Contract
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
        "of the App Store Server API have one meaning for a question",
        arguments: [
            (4_000_000, AppleCodes.ErrorMeaning.requestRefused), (4_000_002, .credentialsRefused),
            (4_000_005, .restartPaging), (4_000_014, .restartPaging), (4_000_017, .restartPaging),
            (4_000_006, .idRefused), (4_000_008, .idRefused), (4_000_048, .idRefused), (4_040_001, .accountNotFound),
            (4_040_002, .retry(.temporarilyUnable, .replied)), (4_040_003, .credentialsRefused),
            (4_040_004, .retry(.temporarilyUnable, .replied)),
            (4_040_005, .notFound), (4_040_006, .retry(.temporarilyUnable, .replied)), (4_040_010, .notFound),
            (4_290_000, .rateLimited), (5_000_000, .retry(.temporarilyUnable, .failed)),
            (5_000_001, .retry(.temporarilyUnable, .failed)),
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
            (4_000_999, 400, .unknown(.replied)), (4_030_001, 403, .unknown(.replied)),
            (4_040_999, 404, .unknown(.replied)), (4_080_000, 408, .unknown(.overloaded)),
            (4_290_001, 429, .rateLimited), (5_009_999, 500, .retry(.noAnswer, .failed)),
            (0, 503, .retry(.noAnswer, .overloaded)), (-1, 401, .tokenRefused), (.max, 404, .unknown(.replied)),
            (.min, 500, .retry(.noAnswer, .failed)), (4_000_006, 503, .retry(.noAnswer, .overloaded)),
            (4_040_010, 401, .tokenRefused), (4_040_010, 200, .retry(.noAnswer, .failed)),
            (nil, 400, .retry(.noAnswer, .replied)), (nil, 401, .tokenRefused),
            (nil, 403, .retry(.noAnswer, .failed)),
            (nil, 404, .retry(.noAnswer, .failed)), (nil, 413, .retry(.noAnswer, .replied)),
            (nil, 408, .retry(.noAnswer, .overloaded)),
            (nil, 429, .rateLimited), (nil, 500, .retry(.noAnswer, .failed)), (nil, 302, .retry(.noAnswer, .failed)),
            (nil, 204, .retry(.noAnswer, .failed)), (nil, 0, .retry(.noAnswer, .failed)),
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
            let isFailure = row.code / 10_000 >= 500
            #expect(row.meaning == .retry(.temporarilyUnable, isFailure ? .failed : .replied))
        }
    }
}
