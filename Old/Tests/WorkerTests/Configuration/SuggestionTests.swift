import Testing

@testable import Worker

@Suite("Suggestions")
struct SuggestionTests {
    private let words = ["bundleId", "sandbox", "receipts", "products"]

    @Test(
        "The nearest word is found, whatever its case",
        arguments: [("bundleID", "bundleId"), ("sandbx", "sandbox"), ("reciepts", "receipts")])
    func nearest(written: String, meant: String) {
        #expect(Suggestion.nearest(to: written, among: words) == meant)
    }

    @Test("A word unlike all gets none", arguments: ["xyzzy", "", String(repeating: "sandbox", count: 20)])
    func none(written: String) {
        #expect(Suggestion.nearest(to: written, among: words) == nil)
    }
}
