import Contract

/// The Kafka mock as a program, with the topics.
final class KafkaMock {
    private static let inputPartitions = 4
    private static let outputPartitions = 2

    let bootstrapServers: String
    private let program: ChildProgram

    init(program path: String, folder: String) throws(DemoFailure) {
        var words = [path]
        for topic in Topic.allCases {
            let partitions = topic == .submitted ? Self.inputPartitions : Self.outputPartitions
            words += ["--topic", "\(topic.defaultName):\(partitions)"]
        }
        program = try ChildProgram(piped: words, log: folder + "/broker.log")
        let line = program.readLine()?.split(separator: " ") ?? []
        guard line.count == 2, line[0] == "BOOTSTRAP" else { throw DemoFailure("\(path) does not start") }
        bootstrapServers = String(line[1])
    }

    func stop() { program.stop(within: .seconds(5)) }
}
