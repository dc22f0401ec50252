import Foundation
import Testing

@testable import AppStoreSimulator

struct BehaviourTests {
    @Test("Members may be left out")
    func defaults() throws {
        #expect(try read("{}") == Behaviour())
        #expect(try read("{\"outage\":\"closed\"}") == Behaviour(outage: .closed))
        #expect(
            try read(
                "{\"latency\":{\"fixed\":{\"milliseconds\":9}},\"faults\":[{\"share\":0.5,\"fault\":{\"html\":{}}}]}")
                == Behaviour(latency: .fixed(milliseconds: 9), faults: [.init(0.5, .html)]))
    }

    private func read(_ json: String) throws -> Behaviour {
        try JSONDecoder().decode(Behaviour.self, from: Data(json.utf8))
    }
}
