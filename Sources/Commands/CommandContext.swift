import CommandParser
import Configuration
import Contract

/// Everything that commands have of the process and of the world. Tests put their own in its place.
struct CommandContext: Sendable {
    let environment: [String: String]
    /// Characters of a terminal's line; nil if answers do not go to a terminal.
    let width: Int?
    let now: @Sendable () -> Timestamp
    /// Writes an answer.
    let output: @Sendable (String) throws(CommandFailure) -> Void
    let ledgers: LedgerOpener
    let cluster: @Sendable (KafkaSettings) -> any ClusterAdmin
    /// Makes the clients that a worker would make, and throws them away: what these accept, a worker's accept.
    let checkClients: @Sendable (KafkaSettings) throws(CommandFailure) -> Void
    let apple: @Sendable (AppleSettings) throws(CommandFailure) -> any AppleCaller
}
