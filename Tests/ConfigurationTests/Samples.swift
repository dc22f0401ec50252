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

/// A private key of the kind that App Store Connect gives out, made for tests.
enum SampleKey {
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBxpef9DWetR3yVKw
        Qww8sAedmOJYzybjYy5m9lWQI0GhRANCAATqW57kLqz4KmlrUMBTQ0+E38BWUEys
        3IVIxGXwnfu7a6NXU9fh+WF1X2CnGN395QeuAeXz353VDbkD9iZuH91R
        -----END PRIVATE KEY-----
        """
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

/// A folder for one test's files, gone when the test is over.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "grantor-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file and returns its path.
    func write(_ text: String, to name: String) throws -> String {
        try write(Data(text.utf8), to: name)
    }

    func write(_ bytes: [UInt8], to name: String) throws -> String { try write(Data(bytes), to: name) }

    func write(_ data: Data, to name: String) throws -> String {
        let file = path + "/" + name
        let folder = (file as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try data.write(to: URL(filePath: file))
        return file
    }
}
