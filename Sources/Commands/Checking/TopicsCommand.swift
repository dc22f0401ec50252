import CommandParser
import Configuration
import Kafka

enum TopicsCommand {
    private static let partitions = Parameter.option(
        "partitions", .integer(1...10_000), default: 12, help: "Partitions of each new topic.")
    private static let replicas = Parameter<Int?>.option(
        "replicas", .integer(1...100),
        help: "Replicas of each new topic; without it 3, or as many as there are brokers.")

    static let command = Command<CommandContext>(
        "topics", "Looks after the topics.",
        subcommands: [
            Command(
                "create", "Creates those of the topics in use that are missing.",
                discussion: """
                    New topics keep submissions for 14 days and events for 30, are not compacted, and take records as large \
                    as receipts can be. A write needs two replicas in sync, where there are two. Submissions get the \
                    brokers' time, which ends of subscriptions are held against.
                    """,
                [CommonOptions.config, partitions, replicas], run: create)
        ])

    private static func create(_ arguments: ParsedArguments, _ context: CommandContext) throws(CommandFailure) {
        let settings = try arguments.kafkaSettings(context)
        let (partitions, replicas) = (try arguments[partitions], try arguments[replicas])
        let creation: (answer: String, failure: KafkaError?)
        do throws(KafkaError) {
            let cluster = context.cluster(settings)
            creation = try create(settings.topics, partitions: partitions, replicas: replicas, cluster)
        } catch {
            throw CommandFailure(
                .failed, "the topics cannot be created at \(settings.bootstrapServers): \(settings.words(error))")
        }
        try context.output(creation.answer)
        if let failure = creation.failure {
            throw CommandFailure(
                .failed,
                "not all topics could be created at \(settings.bootstrapServers): \(settings.words(failure))")
        }
    }

    /// Creates missing topics. If one fails, the others are still created and reported.
    private static func create(
        _ names: TopicNames, partitions: Int, replicas: Int?, _ cluster: any ClusterAdmin
    ) throws(KafkaError) -> (answer: String, failure: KafkaError?) {
        let description = try cluster.describe()
        let copies = replicas ?? max(1, min(3, description.brokers))
        let missing = names.inUse.filter { topic in
            switch description.topics[names[topic]] {
            case .missing, nil: true
            case .present, .failed: false
            }
        }
        let results = try cluster.createTopics(
            missing.map { topic in
                KafkaNewTopic(
                    name: names[topic], partitions: partitions, replicas: copies,
                    configuration: TopicRequirements.configuration(of: topic, replicas: copies))
            })
        var answer = ""
        var failure: KafkaError?
        for topic in names.inUse {
            let name = names[topic]
            switch results[name] {
            case _ where !missing.contains(topic):
                answer += "\(name): exists, and stays as it is\n"
            // Somebody else may have made it meanwhile, or the asked broker did not know it yet.
            case .failure(let error)? where error.failure?.name == "TOPIC_ALREADY_EXISTS":
                answer += "\(name): exists, and stays as it is\n"
            case .failure(let error)?:
                failure = failure ?? error
                answer += "\(name): not created\n"
            case .success?, nil:
                let replicas = copies.of("replica", "replicas")
                answer += "\(name): created with \(partitions) partitions and \(replicas)\n"
            }
        }
        return (answer, failure)
    }
}
