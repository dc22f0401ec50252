extension ThrowingTaskGroup where ChildTaskResult == Void {
    /// Waits until all tasks have ended or one has failed.
    ///
    /// Not `waitForAll()`, which takes note of a failure only after all others have ended: a stage that waits for the failed
    /// one never would.
    /// - Throws: the first failure. Thrown out of the group's body it cancels the other tasks.
    mutating func untilAllEndOrOneFails() async throws {
        while try await next() != nil {}
    }
}
