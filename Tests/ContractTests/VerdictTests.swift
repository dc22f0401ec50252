import Contract
import Testing

@Suite struct AttemptHistoryTests {
    @Test("The first attempts and the latest are kept, in order")
    func bounded() {
        var history = AttemptHistory()
        for number in 0..<200 {
            history.add(Attempt(at: Timestamp(milliseconds: Int64(number)), cause: "unreachable", detail: ""))
        }
        let kept = history.attempts.map(\.at.milliseconds)
        #expect(kept == Array(0..<Int64(AttemptHistory.maxFirst)) + Array(160..<200))
    }
}

@Suite struct EndpointTests {
    @Test("A column's text is the endpoint again", arguments: ["", "com.example.game", "a/b"])
    func text(key: String) {
        for service in Endpoint.Service.allCases {
            for environment in Environment.allCases {
                let endpoint = Endpoint(service, environment, key: key)
                #expect(Endpoint(text: endpoint.text) == endpoint)
            }
        }
    }

    @Test("The text is what rows hold already")
    func stable() {
        #expect(Endpoint(.verifyReceipt, .production).text == "verify_receipt/production/")
        #expect(Endpoint(.serverAPI, .sandbox, key: "com.example.game").text == "server_api/sandbox/com.example.game")
    }

    @Test(
        "The words of a later version are no endpoint",
        arguments: ["", "verify_receipt/production", "x/production/", "server_api/x/"])
    func unknown(text: String) {
        #expect(Endpoint(text: text) == nil)
    }
}
