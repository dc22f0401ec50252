import Foundation
import Testing

@testable import Worker

@Suite("Explanations of metrics")
struct MetricHelpTests {
    @Test("Every metric of the sources is explained, and nothing else")
    func complete() throws {
        let pattern = /(?:Counter|Gauge|Meter|Recorder|Timer)\(\s*label: "([a-z_]+)"/
        let folder = Repository.path("Sources")
        let files = try #require(FileManager.default.enumerator(atPath: folder))
            .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
        var names: Set<String> = []
        for file in files {
            let source = try Repository.text("Sources/" + file)
            names.formUnion(source.matches(of: pattern).map { String($0.output.1) })
        }
        #expect(names.count > 20)
        #expect(names == Set(MetricHelp.texts.keys))
    }

    @Test("An explanation stays on its line")
    func escaped() {
        #expect(MetricHelp.line("x", "a\nb \\ \"c\"") == #"# HELP x a\nb \\ "c""#)
    }
}
