import AppStoreSimulator
import Glibc
import SystemTesting
import Testing

extension IntegrationTests {
    @Suite("What a worker needs goes away and comes back")
    struct OutageTests {
        @Test("A broker that closes its port for a while costs nothing, and the worker goes on by itself")
        func brokerDownAndUp() async throws {
            let folder = try TemporaryFolder()
            let broker = try await MockBroker.start(in: folder.url)
            let stage = try await Stage(folder, broker: broker)
            try await Outage.play(on: stage) { _ in
                try await broker.goDown()
            } comeBack: {
                try await broker.comeUp()
            }
            try await stage.close()
        }

        @Test("A broker that is stopped and started again with its data costs nothing")
        func brokerRestarts() async throws {
            let folder = try TemporaryFolder()
            let broker = try await NoidaBroker.start(in: folder.url)
            let stage = try await Stage(folder, broker: broker)
            try await Outage.play(on: stage) { worker in
                // This broker forgets some of what it acknowledged while it was being stopped, so nobody writes to it then.
                worker.process.kill(SIGSTOP)
                defer { worker.process.kill(SIGCONT) }
                try await broker.rest()
                try await broker.stop()
            } comeBack: {
                try broker.restart()
            }
            try await stage.close()
        }

        @Test("An App Store that cannot be reached for ten seconds costs nothing and fails nobody's purchase")
        func appStoreDownAndUp() async throws {
            let folder = try TemporaryFolder()
            let stage = try await Stage(folder, broker: MockBroker.start(in: folder.url))
            try await Outage.play(on: stage, lasting: .seconds(10)) { _ in
                try await stage.apple.simulator.stop()
            } comeBack: {
                _ = try await stage.apple.simulator.start()
            }
            try await stage.close()
        }
    }
}
