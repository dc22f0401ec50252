/// What a test waited for did not come in time.
public struct DeadlineMissed: Error, CustomStringConvertible {
    public let description: String

    /// What was waited for, in words.
    public init(description: String) {
        self.description = description
    }
}

/// Asks again and again until there is an answer.
///
/// - Parameters:
///   - what: Names the condition in the failure.
///   - limit: How long to ask. Generous: it is only reached by a test that fails.
///   - answer: `nil` for not yet.
/// - Throws: `DeadlineMissed`, or what `answer` throws.
@discardableResult
public func eventually<Answer>(
    _ what: @autoclosure () -> String, within limit: Duration, isolation: isolated (any Actor)? = #isolation,
    _ answer: () async throws -> Answer?
) async throws -> Answer {
    let pause = Duration.milliseconds(10)
    let end = ContinuousClock.now + limit
    while true {
        if let answer = try await answer() { return answer }
        guard ContinuousClock.now < end else { throw DeadlineMissed(description: "\(what()): not within \(limit)") }
        try await Task.sleep(for: pause)
    }
}
