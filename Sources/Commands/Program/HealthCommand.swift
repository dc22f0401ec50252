import CommandParser
import Configuration
import Contract
import HTTPServer

/// Asks the worker of this host for its health, so that an image needs no HTTP client for its health check.
enum HealthCommand {
    /// Time for the reply; below what platforms give a health check.
    static let limit = Duration.seconds(3)
    private static let ready = Parameter.flag(
        "ready", help: "Ask whether it is ready (/readyz) instead of alive (/livez).")

    static let command = Command<CommandContext>(
        "health", "Asks the worker on this host whether it is alive.",
        discussion: """
            Asks at http.bind, and answers with the worker's own words. Exits 0 if it is well, and 1 if it is not or \
            does not answer within three seconds. For health checks of containers.
            """,
        [CommonOptions.config, ready], run: run)

    private static func run(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let bind = try arguments.configuration(context) { values throws(ConfigurationError) in
            try HostAndPort(ofProbes: values)
        }
        guard bind.port != 0 else {
            throw CommandFailure(
                .configuration, "GRANTOR_HTTP_BIND (http.bind) has port 0, so nobody knows which one the worker took")
        }
        let path = arguments[ready] ? "/readyz" : "/livez"
        let reply: ProbeClient.Reply
        do throws(ProbeFailure) {
            reply = try ProbeClient.get(host: bind.host, port: bind.port, path: path, within: limit)
        } catch {
            throw CommandFailure(.failed, "no worker answers at \(bind): \(error)")
        }
        guard reply.status == 200 else {
            throw CommandFailure(.failed, "\(bind)\(path) says \(reply.status): \(detail(reply))")
        }
        try context.output(detail(reply) + "\n")
    }

    /// The worker's sentence, or the whole reply.
    private static func detail(_ reply: ProbeClient.Reply) -> String {
        guard case .string(let detail)? = (try? StrictJSON(Array(reply.body.utf8)))?.members["detail"] else {
            return PrintableText.cut(PrintableText.singleLine(reply.body), to: 200)
        }
        return PrintableText.singleLine(detail)
    }
}
