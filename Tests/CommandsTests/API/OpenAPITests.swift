import Contract
import Foundation
import Ledger
import Testing

@testable import Commands
@testable import Configuration

/// The description of the read-only API, compared with its answers.
@Suite("schemas/openapi.yaml")
struct OpenAPITests {
    private let document: YAMLNode

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../schemas/openapi.yaml")
        document = try #require(try YAMLDocument.read(String(contentsOf: file, encoding: .utf8), file: file.path))
    }

    private static let targets: [(target: String, path: String, schema: String)] = [
        ("/v1/submissions/com.example.game/granted", "/v1/submissions/{app}/{id}", "Submissions"),
        ("/v1/submissions/com.example.game/failed", "/v1/submissions/{app}/{id}", "Submissions"),
        ("/v1/submissions/com.example.game/retrying", "/v1/submissions/{app}/{id}", "Submissions"),
        ("/v1/submissions/com.example.game/later", "/v1/submissions/{app}/{id}", "Submissions"),
        ("/v1/find?word=u-1", "/v1/find", "Found"), ("/v1/find?word=gone", "/v1/find", "Found"),
        ("/v1/find?word=1000007&limit=2", "/v1/find", "Found"),
    ]

    @Test("Real answers have the described members and no others", arguments: targets.indices)
    func answers(index: Int) throws {
        let (target, _, schema) = Self.targets[index]
        let body = try APIStage().reply(target).body
        try check(body, schema)
    }

    @Test("A full report has them, too")
    func fullReport() throws {
        let entry = PassedOver.Entry("99", "com.example.new", .productNotConfigured)
        let grant = FixedLedger.grant(passingOver: PassedOver([entry]))
        let repeated = Answer.repeated(
            Repeat(
                claimant: FixedLedger.claimant("s-1"), grant: grant.reference, origin: FixedLedger.origin,
                answeredAt: FixedLedger.time, passedOver: nil))
        let key = SubmissionKey(bundleID: "com.example.game", submissionID: "s-1")
        let records = [
            FixedLedger.record(
                grants: [grant, grant], waiting: [FixedLedger.waiting, FixedLedger.held],
                owed: [FixedLedger.owed(.publish)]),
            FixedLedger.record(answer: repeated, owed: [FixedLedger.owed(.call)]),
        ]
        let reports = records.flatMap { SubmissionReport.all(key, $0, actions: nil, Checkpoints([])) }
        let json = SubmissionAnswer(reports: reports, later: 2).json(mostGrants: 1, mostWaiting: 1)
        #expect(json.text.contains("\"moreGrants\" : 1") && json.text.contains("\"moreWaiting\" : 1"))
        try check(json.text, "Submissions")
        let hit = SubmissionRow(GrantRow(sequence: 1, grant: grant))
        try check(Search("granted", limit: 1).result([[hit]]).json(Checkpoints([])).text, "Found")
    }

    @Test("Refusals have the one form of errors, and each status is described")
    func refusals() throws {
        let described = try #require(document["paths"]?["/v1/find"]?["get"]?["responses"]).names
        for status in APIRefusal.statuses { #expect(described.contains(String(status))) }
        for (target, token) in [("/v1/find", APITesting.token), ("/nowhere", APITesting.token), ("/", "wrong")] {
            try check(try APIStage().reply(target, token: token).body, "Error")
        }
    }

    @Test(
        "Each example is the real answer to its question",
        arguments: [
            ("granted", "/v1/submissions/com.example.game/granted", 200),
            ("retrying", "/v1/submissions/com.example.game/retrying", 200),
            ("found", "/v1/find?word=1000007&limit=2", 200),
            ("unknown", "/v1/submissions/com.example.game/gone", 404), ("unauthorized", "/v1/find?word=a", 401),
        ])
    func examples(name: String, target: String, status: Int) throws {
        let example = try #require(document["components"]?["examples"]?[name]?["value"])
        let reply = try APIStage().reply(target, token: status == 401 ? nil : APITesting.token)
        #expect(reply.status == status)
        let real = try JSONSerialization.jsonObject(with: Data(reply.body.utf8))
        #expect(Self.text(real) == Self.text(example), "\(reply.body)")
    }

    @Test("Its paths, limits and words are those of the program")
    func program() throws {
        #expect(Set(try #require(document["paths"]).names) == Set(Self.targets.map(\.path)))
        let limit = document["components"]?["parameters"]?["limit"]?["schema"]
        #expect(limit?["maximum"]?.scalar == String(APIRequest.mostHits))
        #expect(limit?["default"]?.scalar == String(APIRequest.usualHits))
        let states = document["components"]?["schemas"]?["State"]?["enum"]?.elements.compactMap(\.scalar)
        #expect(states == SubmissionState.allCases.map(\.rawValue))
        let meanings = document["components"]?["schemas"]?["Hit"]?["properties"]?["foundAs"]?["items"]?["enum"]
        #expect(meanings?.elements.compactMap(\.scalar) == Search.Meaning.allCases.map(\.rawValue))
    }

    // MARK: Schemas

    private struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    private func check(_ body: String, _ schema: String) throws {
        let json = try JSONSerialization.jsonObject(with: Data(body.utf8))
        try check(json, try #require(document["components"]?["schemas"]?[schema]), schema)
    }

    /// Holds a value against the part of JSON Schema that the document uses. Members that no schema names are wrong
    /// here, although clients must let them pass.
    private func check(_ value: Any, _ schema: YAMLNode, _ place: String) throws {
        if let reference = schema["$ref"]?.scalar {
            let name = String(reference.split(separator: "/").last ?? "")
            return try check(value, try #require(document["components"]?["schemas"]?[name], "\(reference)"), place)
        }
        switch schema["type"]?.scalar {
        case "object":
            guard let members = value as? [String: Any] else { throw Mismatch(description: "\(place) is no object") }
            let properties = schema["properties"]
            for name in schema["required"]?.elements.compactMap(\.scalar) ?? [] where members[name] == nil {
                throw Mismatch(description: "\(place) has no \(name)")
            }
            for (name, member) in members {
                guard let property = properties?[name] ?? schema["additionalProperties"] else {
                    throw Mismatch(description: "\(place).\(name) is not described")
                }
                try check(member, property, "\(place).\(name)")
            }
        case "array":
            guard let elements = value as? [Any] else { throw Mismatch(description: "\(place) is no array") }
            for element in elements { try check(element, try #require(schema["items"]), place + "[]") }
        case "string":
            guard let text = value as? String else { throw Mismatch(description: "\(place) is no string") }
            if let words = schema["enum"]?.elements.compactMap(\.scalar), !words.contains(text) {
                throw Mismatch(description: "\(place) is \(text)")
            }
        case "integer":
            guard value is Int, !(value is Bool) || Self.text(value) != "true" else {
                throw Mismatch(description: "\(place) is no integer")
            }
        case "boolean":
            guard value is Bool else { throw Mismatch(description: "\(place) is no boolean") }
        case let type: throw Mismatch(description: "\(place) has the type \(type ?? "none")")
        }
    }

    /// One text for equal values, of JSON and of YAML.
    private static func text(_ value: Any) -> String {
        switch value {
        case let node as YAMLNode:
            switch node.content {
            case .scalar(let text, _): return text
            case .sequence(let elements): return "[" + elements.map(text).joined(separator: ",") + "]"
            case .mapping(let members):
                return "{" + members.map { "\($0.name):\(text($0.value))" }.sorted().joined(separator: ",") + "}"
            }
        case let members as [String: Any]:
            return "{" + members.map { "\($0):\(text($1))" }.sorted().joined(separator: ",") + "}"
        case let elements as [Any]: return "[" + elements.map(text).joined(separator: ",") + "]"
        case let text as String: return text
        case let number as NSNumber:
            return String(cString: number.objCType) == "c" ? (number.boolValue ? "true" : "false") : "\(number)"
        default: return "\(value)"
        }
    }
}

extension YAMLNode {
    fileprivate subscript(name: String) -> YAMLNode? {
        guard case .mapping(let members) = content else { return nil }
        return members.first { $0.name == name }?.value
    }

    fileprivate var names: [String] {
        guard case .mapping(let members) = content else { return [] }
        return members.map(\.name)
    }

    fileprivate var elements: [YAMLNode] {
        guard case .sequence(let elements) = content else { return [] }
        return elements
    }

    fileprivate var scalar: String? {
        guard case .scalar(let text, _) = content else { return nil }
        return text
    }
}
