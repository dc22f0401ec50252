import Foundation
import Testing

@testable import AppStoreSimulator

struct ConnectionsTests {
    @Test func connectionsBeyondTheLimitAreTurnedAway() async throws {
        try await withSimulator({ $0.connectionLimit = 1 }) { simulator, endpoints in
            let receipt = try simulator.issue(.sample())
            let first = try await endpoints.production()
            #expect(try await first.verify(receipt).status == 0)
            await #expect(throws: (any Error).self) { try await endpoints.production().verify(receipt) }
            await first.close()
            #expect(try await endpoints.statistics { $0.connections == 0 }.connections == 0)
            #expect(try await endpoints.production().verify(receipt).status == 0)
        }
    }
}
