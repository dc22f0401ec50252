import FileTesting
import Foundation

@testable import Configuration

/// The checkout that the tests were built from.
enum Repository {
    /// The text of a file of it.
    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: self.path(path), encoding: .utf8)
    }

    /// Where a file of it is.
    static func path(_ path: String) -> String {
        // Tests/ConfigurationTests/Repository.swift
        (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }.path + "/" + path
    }
}

/// Settings that a worker could start with.
struct SampleSettings {
    let folder: TemporaryFolder
    var environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        environment = [
            "GRANTOR_KAFKA_BOOTSTRAP_SERVERS": "kafka-1:9092,[::1]:9093",
            "GRANTOR_LEDGER_URL": "sqlite:/data/grantor.db",
            "GRANTOR_APPS_FILE": try folder.write(
                "apps: [{bundleId: com.example.game, sandbox: {policy: reject}, products: any}]\n", to: "apps.yaml"),
        ]
    }

    func load(_ more: [String: String] = [:]) throws(ConfigurationError) -> WorkerConfiguration {
        let environment = environment.merging(more) { _, new in new }
        return try WorkerConfiguration(SettingValues.load(file: nil, environment: environment))
    }
}
