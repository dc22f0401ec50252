import AppStore
import Contract
import HTTPClient
import Testing

@testable import Worker

/// The text for people about an endpoint of Apple's that does not answer.
@Suite struct AppleDriverTests {
    @Test("A fault names the failed call, the status, or what Apple's answer means")
    func fault() {
        let unable = QuestionStep.verdict(.retry(.temporarilyUnable, notBefore: nil))
        let none = QuestionStep.verdict(.retry(.noAnswer, notBefore: nil))
        #expect(AppleDriver.fault(.failure(.stopped), none) == "the client was stopped")
        #expect(AppleDriver.fault(.success(HTTPResponse(status: 503)), none) == "HTTP 503")
        #expect(AppleDriver.fault(.success(HTTPResponse(status: 200)), unable) == "Apple said that it cannot tell now.")
    }
}
