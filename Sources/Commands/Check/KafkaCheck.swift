import Configuration
import Contract
import Kafka

/// `grantor check` of brokers and topics.
struct KafkaCheck {
    let settings: KafkaSettings
    let cluster: any ClusterAdmin

    func results() -> [CheckResult] {
        do throws(KafkaError) {
            let description = try cluster.describe()
            let present = Topic.allCases.map { settings.topics[$0] }.filter { name in
                if case .present = description.topics[name] { true } else { false }
            }
            return [CheckResult("broker", .good, "\(description.brokers.count) reachable")]
                + topics(description, configurations(of: present))
        } catch {
            return [
                CheckResult(
                    "broker", .failed, "\(settings.bootstrapServers) does not answer: \(settings.words(error))")
            ]
        }
    }

    /// The properties of topics; none where the right to read them is missing.
    private func configurations(of names: [String]) -> [String: [String: String]] {
        guard let answers = try? cluster.configurations(of: names) else { return [:] }
        return answers.compactMapValues { try? $0.get() }
    }

    private func topics(
        _ description: KafkaClusterDescription, _ configurations: [String: [String: String]]
    ) -> [CheckResult] {
        Topic.allCases.map { topic in
            let name = settings.topics[topic]
            switch description.topics[name] {
            case .missing, nil:
                return CheckResult("topic \(name)", .failed, "missing; grantor topics create makes it")
            case .failed(let error): return CheckResult("topic \(name)", .failed, settings.words(error))
            case .present(let partitions):
                var finding = TopicRequirements.finding(
                    on: topic, partitions, configurations[name] ?? [:], brokers: description.brokers.count)
                if topic == .quarantined {
                    let input = configurations[settings.topics[.submitted]] ?? [:]
                    let failure = TopicRequirements.sizeFailure(
                        submitted: input, quarantined: configurations[name] ?? [:])
                    finding.failures += failure.map { [$0] } ?? []
                }
                if configurations[name] == nil { finding.warnings.append("its properties may not be read") }
                let outcome: CheckResult.Outcome =
                    finding.failures.isEmpty ? finding.warnings.isEmpty ? .good : .warning : .failed
                let copies = "\(partitions.replicas) \(partitions.replicas == 1 ? "replica" : "replicas")"
                let size = "\(partitions.count) partitions, \(copies)"
                let detail = ([size] + finding.failures + finding.warnings).joined(separator: "; ")
                return CheckResult("topic \(name)", outcome, detail)
            }
        }
    }
}
