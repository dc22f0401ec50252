import Testing

@testable import Contract

@Suite struct EventFormatTests {
    /// The formats that the release before reads. A release that adds a format leaves this as it is; the next one adds
    /// the format here, and may write it (docs/versions.md).
    private static let formatsOfTheReleaseBefore: Set = [EventFormat.v1]

    @Test("New rows have a format that workers of the release before can read")
    func written() {
        #expect(Self.formatsOfTheReleaseBefore.contains(.current))
    }
}
