import Foundation
import Testing

@testable import AppStoreSimulator

struct FaultTests {
    @Test(
        "JSON names the fault",
        arguments: [
            ("{\"status\":{\"code\":21005}}", Fault.status(code: 21005)),
            (
                "{\"status\":{\"code\":21104,\"isRetryable\":true,\"spelling\":\"hyphen\"}}",
                .status(code: 21104, isRetryable: true, spelling: .hyphen)
            ),
            ("{\"rateLimited\":{\"retryAfter\":\"2\"}}", .rateLimited(retryAfter: "2")),
            ("{\"drip\":{\"bytes\":10,\"everyMilliseconds\":5}}", .drip(bytes: 10, everyMilliseconds: 5)),
            ("{\"apiError\":{\"code\":5000001}}", .apiError(code: 5_000_001)),
            ("{\"reset\":{}}", .reset),
        ])
    func json(json: String, fault: Fault) throws {
        #expect(try JSONDecoder().decode(Fault.self, from: Data(json.utf8)) == fault)
        #expect(try JSONDecoder().decode(Fault.self, from: JSONEncoder().encode(fault)) == fault)
    }

    @Test("Unknown faults are refused")
    func unknown() {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Fault.self, from: Data("{\"rain\":{}}".utf8)) }
    }
}
