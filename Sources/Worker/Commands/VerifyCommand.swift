import AppStore
import ArgumentParser
import Foundation
import Fulfillment
import HTTPTransport
import Logging
import Purchases

/// `grantor verify`.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verifies one piece of evidence with Apple and prints what came of it as JSON.",
        discussion: """
            Reads a receipt, base64, or a whole submission in JSON from a file or, with -, from standard input. Nothing is \
            granted and nothing is published. Exits 0 if it is verified, 1 if it is not.
            """)

    @Argument(help: "File with the evidence; - for standard input.")
    var file: String

    @OptionGroup var configuration: ConfigurationOptions

    @Option(name: .long, help: "Bundle id of the app; needed for a bare receipt when several apps are configured.")
    var app: String?

    func run() async throws {
        let settings = try configuration.load()
        let configured = try ConfigurationOptions.reporting { () throws(ConfigurationError) in
            try AppsFile.load(try settings.requiredAppsFile())
        }
        let apps = AppRegistry(configured)
        let bundleIDs = configured.map(\.app.bundleID)
        let submission = try submission(try evidence(), bundleIDs)
        var http = HTTPTransportConfiguration()
        http.caFile = settings.apple.caFile
        http.connectTimeout = settings.apple.connectTimeout
        http.totalTimeout = settings.apple.timeout
        let clock = SystemClock()
        do {
            var logger = Logger(label: "verify")
            logger.logLevel = .critical
            let transport = try HTTPTransport(configuration: http, logger: logger)
            let endpoint = AppleEndpoint(
                transport: transport, productionURL: settings.apple.verifyReceiptProductionURL,
                sandboxURL: settings.apple.verifyReceiptSandboxURL)
            let verification = SingleVerification(apps: apps, endpoint: endpoint, clock: clock)
            let verdict = await verification.verdict(on: submission, receivedAt: clock.now())
            await transport.shutdown()
            let report = VerdictReport(verdict)
            FileHandle.standardOutput.write(try report.json() + Data("\n".utf8))
            if !report.isVerified { throw ExitCode(ExitStatus.failed.rawValue) }
        } catch let error as HTTPTransportError {
            throw ExitStatus.configuration.saying("\(error)")
        }
    }

    private func evidence() throws -> [UInt8] {
        if file == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw ExitStatus.failed.saying("\(file): the file cannot be read")
        }
        return Array(data)
    }

    private func submission(_ bytes: [UInt8], _ bundleIDs: [BundleID]) throws -> Submission {
        switch SingleVerification.read(bytes) {
        case .submission(let submission): return submission
        case .malformed(let detail): throw ExitStatus.failed.saying("\(file): \(detail)")
        case .noJSON:
            guard let bundleID = app.map({ BundleID($0) }) ?? (bundleIDs.count == 1 ? bundleIDs.first : nil) else {
                throw ExitStatus.usage.saying("several apps are configured; say which with --app")
            }
            let text = String(decoding: bytes, as: UTF8.self)
            return Submission(
                id: "verify", userID: "verify", bundleID: bundleID, evidence: .receipt(base64: text))
        }
    }
}
