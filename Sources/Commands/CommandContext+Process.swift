import CommandParser
import Configuration
import Contract
import FoundationEssentials
import Kafka
import LedgerSQLite
import Logging
import Worker

extension CommandContext {
    /// The process's own environment, terminal and clock, and the world that the configuration names.
    static func process() -> CommandContext {
        let environment = ProcessInfo.processInfo.environment
        // Commands end by themselves and say what failed; libraries' lines would say it twice.
        let logger = Logger(label: "command", level: .critical, handler: LineLogHandler(format: .text))
        return CommandContext(
            environment: environment, width: Terminal.width(environment: environment),
            now: SQLiteLedgerConfiguration.wallClock, output: StandardOutput.write, ledgers: .configured,
            cluster: { ConfiguredCluster($0, logger: logger) },
            checkClients: { settings throws(CommandFailure) in try settings.checkClients() },
            apple: { settings throws(CommandFailure) in try HTTPSAppleCaller(settings, logger: logger) })
    }
}

extension KafkaSettings {
    /// Makes the clients that a worker would make, and throws them away: what these accept, a worker's accept.
    func checkClients() throws(CommandFailure) {
        let consumer = KafkaConsumerConfiguration(
            client: client, groupID: groupID, topics: [topics[.submitted]], groupInstanceID: groupInstanceID)
        do throws(KafkaError) {
            try consumer.check()
            try KafkaProducerConfiguration(client: client).check()
        } catch {
            let status: ExitStatus = error.disposition == .configuration ? .configuration : .failed
            throw CommandFailure(status, "Kafka: \(words(error))")
        }
    }
}
