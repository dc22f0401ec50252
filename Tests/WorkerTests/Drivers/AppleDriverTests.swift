import Contract
import HTTPClient
import Testing

@testable import AppStore
@testable import Worker

/// The text for people about an endpoint of Apple's that does not answer.
@Suite struct AppleDriverTests {
    @Test("A fault names the failed call, the status, or what Apple's reply means; an answer is none")
    func fault() {
        func fault(_ result: Result<HTTPResponse, HTTPFailure>, _ cause: RetryCause, _ outcome: CallOutcome) -> String?
        {
            AppleDriver.fault(result, .retry(cause, outcome))
        }
        let refused = HTTPFailure(.connectFailed, "nobody listens")
        #expect(fault(.failure(refused), .unreachable, .failed) == "nobody listens")
        #expect(fault(.success(HTTPResponse(status: 503)), .noAnswer, .overloaded) == "HTTP 503")
        #expect(
            fault(.success(HTTPResponse(status: 200)), .temporarilyUnable, .failed)
                == "Apple said that it cannot tell now.")
        #expect(fault(.success(HTTPResponse(status: 404)), .noAnswer, .replied) == nil)
        #expect(fault(.failure(.stopped), .unreachable, .unknown) == nil)
    }
}
