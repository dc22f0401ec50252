import Glibc

/// `kafka-mock [--brokers N] [--topic NAME:PARTITIONS]...`
///
/// Starts a mock cluster, prints one line `BOOTSTRAP host:port,...`, then takes one command per line of standard input
/// and answers each with `OK` or `ERROR text`. Ends with its input, and so with the process that started it.
@main
enum KafkaMock {
    private static let badUsage: Int32 = 64

    static func main() {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            fail("usage: kafka-mock [--brokers N] [--topic NAME:PARTITIONS]...", code: badUsage)
        }
        do throws(MockError) {
            let cluster = try MockCluster(brokers: options.brokers)
            for (name, partitions) in options.topics { try cluster.createTopic(name, partitions: partitions) }
            say("BOOTSTRAP \(cluster.bootstrapServers)")
            serve(cluster)
        } catch {
            fail("\(error)", code: 1)
        }
    }

    private static func serve(_ cluster: borrowing MockCluster) {
        while let line = readLine() {
            guard let command = MockCommand(line) else {
                say("ERROR expected \(MockCommand.usage)")
                continue
            }
            do throws(MockError) {
                try command.carryOut(on: cluster)
                say("OK")
            } catch {
                say("ERROR \(error)")
            }
            if case .quit = command { return }
        }
    }

    /// Written at once: the reader at the other end of the pipe waits for it.
    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func fail(_ text: String, code: Int32) -> Never {
        let line = text + "\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
        exit(code)
    }

    private struct Options {
        var brokers: Int32 = 1
        var topics: [(name: String, partitions: Int32)] = []

        init?(_ arguments: some Sequence<String>) {
            var iterator = arguments.makeIterator()
            while let option = iterator.next() {
                guard let value = iterator.next() else { return nil }
                switch option {
                case "--brokers":
                    guard let count = Int32(value), count > 0 else { return nil }
                    brokers = count
                case "--topic":
                    let parts = value.split(separator: ":")
                    guard parts.count == 2, let partitions = Int32(parts[1]), partitions > 0 else { return nil }
                    topics.append((String(parts[0]), partitions))
                default: return nil
                }
            }
        }
    }
}
