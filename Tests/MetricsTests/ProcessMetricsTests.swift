import Testing

@testable import Metrics

@Suite("Process metrics")
struct ProcessMetricsTests {
    private let stat =
        "42 (a) b)) S 1 42 42 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 9 0 1000 104857600 2560 18446744073709551615 1"

    @Test("The kernel's files are read behind the program's name, whatever it is")
    func reads() throws {
        let metrics = try #require(
            ProcessMetrics(
                stat: stat, systemStat: "cpu 1 2\nbtime 1700000000\n", openDescriptors: 12, ticksPerSecond: 100,
                pageSize: 4096))
        #expect(metrics.cpuSeconds == 3)
        #expect(metrics.residentBytes == 2560 * 4096)
        #expect(metrics.virtualBytes == 104_857_600)
        #expect(metrics.startTime == 1_700_000_010)
        #expect(metrics.render().contains("# TYPE process_open_fds gauge\nprocess_open_fds 12\n"))
    }

    @Test("Files of another form tell nothing", arguments: ["", "42 (x) S 1 2", "no parentheses"])
    func malformed(stat: String) {
        #expect(
            ProcessMetrics(stat: stat, systemStat: "btime 1", openDescriptors: nil, ticksPerSecond: 100, pageSize: 1)
                == nil)
    }

    @Test("This process has memory, and was started after the machine")
    func current() throws {
        let metrics = try #require(ProcessMetrics.current())
        #expect(metrics.residentBytes > 1 << 20)
        #expect(metrics.startTime > 1_600_000_000)
        #expect((metrics.openDescriptors ?? 0) > 2)
    }
}
