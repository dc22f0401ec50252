import HTTPTransport
import Testing

/// Where tasks run that prefer the transport's executor, and that none is ever left behind.
@Suite(.timeLimit(.minutes(5)))
struct LoopExecutorTests {
    @Test func `a task begins on the transport's thread, and goes on there when its answer has come`() async throws {
        try await Setup.run { setup in
            let task = Task(executorPreference: setup.transport.executor) {
                let before = threadName()
                let status = try await setup.get().status
                return (before, status, threadName())
            }

            let (before, status, after) = try await task.value
            #expect(before == "http-transport")
            #expect(status == 200)
            #expect(after == "http-transport")
        }
    }

    @Test func `tasks whose requests follow each other share the connections with all others`() async throws {
        try await Setup.run(configure: { $0.maxConnections = 10 }) { setup in
            let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
                for number in 0..<100 {
                    let executor = number.isMultiple(of: 2) ? setup.transport.executor : nil
                    group.addTask(executorPreference: executor) {
                        var statuses: [Int] = []
                        for _ in 0..<5 { statuses.append(try await setup.get().status) }
                        return statuses
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }

            #expect(statuses == Array(repeating: 200, count: 500))
            #expect(setup.server.connections.count <= 10)
        }
    }

    @Test func `a task that is cancelled in its request goes on`() async throws {
        try await Setup.run(script: { _ in [] }) { setup in
            let task = Task(executorPreference: setup.transport.executor) { try await setup.failure() }
            await setup.server.requests.reaches(1)

            task.cancel()

            let error = try await task.value
            #expect(error == .cancelled)
        }
    }

    @Test func `after the shutdown tasks go on elsewhere, those that waited and those that begin`() async throws {
        let (wakes, wake) = AsyncStream<Void>.makeStream()
        let (begun, begins) = AsyncStream<Void>.makeStream()
        let (executor, task) = try await Setup.run { setup in
            let executor = setup.transport.executor
            let task = Task(executorPreference: executor) {
                begins.finish()
                let before = threadName()
                for await _ in wakes {}
                return (before, threadName())
            }
            for await _ in begun {}
            return (executor, task)
        }

        wake.finish()

        let (before, after) = await task.value
        #expect(before == "http-transport")
        #expect(after != "http-transport")
        let late = await Task(executorPreference: executor) { threadName() }.value
        #expect(late != "http-transport")
    }

    @Test func `a request that the shutdown fails tells its task`() async throws {
        let task = try await Setup.run(script: { _ in [] }) { setup in
            let task = Task(executorPreference: setup.transport.executor) { try await setup.failure() }
            await setup.server.requests.reaches(1)
            return task
        }

        let error = try await task.value
        #expect(error == .closed)
    }
}
