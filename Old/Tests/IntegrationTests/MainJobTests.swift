import Foundation
import Glibc
import Testing

extension IntegrationTests {
    @Suite("The main job, worker and broker in processes of their own", .serialized)
    struct MainJobTests {
        @Test("On the mock cluster every submission gets its answer, and a second start does nothing over again")
        func mockCluster() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(folder, broker: MockBroker.start(in: folder.url))
            let (played, answered) = try await MainJob.play(on: stage)
            try await MainJob.expectNothingNew(on: stage, played, answered)
            try await Schemas.expectValid(answered, in: folder)
            try await MainJob.expectLostLedgerIsNamed(on: stage)
            try await stage.close()
        }

        @Test("On a PostgreSQL ledger every submission gets its answer, and a second start does nothing over again")
        func postgres() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(
                folder, broker: MockBroker.start(in: folder.url), database: try await Stage.makeDatabase())
            let (played, answered) = try await MainJob.play(on: stage)
            try await MainJob.expectNothingNew(on: stage, played, answered)
            try await stage.close()
        }

        @Test("On Tansu, another implementation of a broker, every submission gets its answer")
        func tansu() async throws {
            let folder = try TemporaryFolder()
            let broker = try await TansuBroker.start(in: folder.url)
            let stage = try await Stage(folder, broker: broker)
            _ = try await MainJob.play(on: stage)
            try await stage.close()
            try await broker.close()
        }
    }
}
