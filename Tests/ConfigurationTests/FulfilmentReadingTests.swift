import Contract
import FileTesting
import Fulfilment
import Testing

@testable import Configuration

@Suite("An app's inventory service in the apps file")
struct FulfilmentReadingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.write("canary-canary-01\n\n", to: "one")
        _ = try folder.write("canary-canary-of-two", to: "two")
        _ = try folder.write("short\n", to: "short")
        _ = try folder.write("canary-canary-0a\ncanary-canary-0b\n", to: "lines")
        _ = try folder.write("no certificate", to: "none.pem")
        _ = try folder.write("-----BEGIN CERTIFICATE-----\n", to: "ca.pem")
    }

    private func load(_ service: String) throws(ConfigurationError) -> FulfilmentService? {
        try ConfiguredApps(file: file("  - {\(entry(service))}\n"))["com.example.game"]?.fulfilment
    }

    private func entry(_ service: String, bundleID: String = "com.example.game") -> String {
        "bundleId: \(bundleID), sandbox: {policy: reject}, products: any, fulfillment: {\(service)}"
    }

    private func file(_ entries: String) -> String {
        (try? folder.write("apps:\n" + entries, to: "apps.yaml")) ?? ""
    }

    private func refusal(_ service: String) -> String? {
        do throws(ConfigurationError) {
            _ = try load(service)
            return nil
        } catch {
            return error.description.replacing(folder.path + "/", with: "")
        }
    }

    @Test("is read to its last member, and shows no secret")
    func full() throws {
        let service = try #require(
            try load(
                "url: 'https://inventory.example.com:8443/grants', secretFiles: [two, one], timeout: 2s, maxInFlight: 7, "
                    + "caFile: ca.pem, ending: true"))
        #expect(
            service
                == FulfilmentService(
                    url: "https://inventory.example.com:8443/grants",
                    secrets: [SigningSecret("canary-canary-of-two"), SigningSecret("canary-canary-01")],
                    timeout: .seconds(2), mostCalls: 7, caFile: folder.path + "/ca.pem", isEnding: true))
        var dumped = ""
        dump(service, to: &dumped)
        #expect(!"\(dumped)\(service)".contains("canary"))
    }

    @Test("has five seconds, fifty calls at once and the system's authorities, unless it says otherwise")
    func short() throws {
        let service = try #require(try load("url: 'https://a/', secretFiles: [two]"))
        #expect(service.timeout == .seconds(5) && service.mostCalls == 50 && service.caFile == nil && !service.isEnding)
    }

    @Test(
        "is refused with one line that says what is wrong",
        arguments: [
            ("secretFiles: [two]", "url must be set: a URL that begins with https://"),
            ("url: 'http://a/', secretFiles: [two]", "url must be a URL that begins with https://"),
            ("url: 'https://u:p@a/', secretFiles: [two]", "url must be a URL that begins with https://"),
            ("url: 'https://a/'", "secretFiles must be a list of one file, or of 2 while secrets are changed"),
            ("url: 'https://a/', secretFiles: []", "secretFiles must be a list of one file, or of 2"),
            ("url: 'https://a/', secretFiles: [one, two, one]", "secretFiles must be a list of one file, or of 2"),
            ("url: 'https://a/', secretFiles: [two, two]", "secretFiles[1] must be a file with another secret"),
            ("url: 'https://a/', secretFiles: [short]", "secretFiles[0] must be a file that holds one secret of 16"),
            ("url: 'https://a/', secretFiles: [lines]", "secretFiles[0] must be a file that holds one secret of 16"),
            ("url: 'https://a/', secretFiles: [missing]", "secretFiles[0] must be the path of a file"),
            ("url: 'https://a/', secretFiles: [two], timeout: 31s", "timeout must be a duration with its unit"),
            ("url: 'https://a/', secretFiles: [two], maxInFlight: 0", "maxInFlight must be "),
            ("url: 'https://a/', secretFiles: [two], caFile: none.pem", "caFile"),
            ("url: 'https://a/', secretFiles: [two], retries: 3", "retries"),
            ("url: 'https://a/', secretFiles: [two], ending: yes", "ending must be true or false"),
        ])
    func refused(service: String, words: String) throws {
        let line = try #require(refusal(service))
        #expect(line.contains("apps[0].fulfillment.\(words)") || line.contains(words), "\(line)")
        #expect(!line.contains("\n") && !line.contains("canary"))
    }

    @Test("may name authorities of its own, of which there are eight for all apps together")
    func authorities() throws {
        for number in 0...8 { _ = try folder.write("-----BEGIN CERTIFICATE-----\n", to: "ca\(number).pem") }
        func entries(_ count: Int) -> String {
            (0..<count).map { number in
                let service = "url: 'https://a/', secretFiles: [two], caFile: ca\(number).pem"
                return "  - {\(entry(service, bundleID: "a\(number)"))}\n"
            }.joined()
        }
        #expect(try ConfiguredApps(file: file(entries(8))).all.count == 8)
        #expect(throws: ConfigurationError.self) { try ConfiguredApps(file: file(entries(9))) }
    }
}
