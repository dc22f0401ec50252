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
        abstract: "Verifies one piece of evidence and prints what was checked, and what came of it, as JSON.",
        discussion: """
            Reads a signed transaction, a receipt in base64, a transaction id, or a whole submission in JSON from a file \
            or, with -, from standard input. Nothing is granted and nothing is published. Exits 0 if it is verified, 1 if \
            it is not.
            """)

    @Argument(help: "File with the evidence; - for standard input.")
    var file: String

    @OptionGroup var configuration: ConfigurationOptions

    @Option(name: .long, help: "Bundle id of the app; needed for bare evidence when several apps are configured.")
    var app: String?

    func run() async throws {
        let (settings, configured, roots) = try configuration.load { values throws(ConfigurationError) in
            let apple = try AppleSettings(values)
            guard let file = try values.text(.appsFile) else { throw .missing(.appsFile) }
            return (apple, try AppsFile.load(file), try apple.trustedRoots())
        }
        let apps = AppRegistry(configured)
        let submission = try submission(try evidence(), configured.map(\.app.bundleID))
        let clock = SystemClock()
        let transport: HTTPTransport
        do throws(HTTPTransportError) {
            var logger = Logger(label: "verify")
            logger.logLevel = .critical
            transport = try HTTPTransport(configuration: settings.transport(), logger: logger)
        } catch {
            throw ExitStatus.configuration.saying("\(error)")
        }
        let endpoint = RecordingEndpoint(settings.endpoint(transport))
        let verification = SingleVerification(
            apps: apps, signatures: SignatureVerifiers(roots: roots), endpoint: endpoint, clock: clock)
        let checks = verification.checks(on: submission, now: clock.now())
        let verdict = await verification.verdict(on: submission, receivedAt: clock.now())
        await transport.shutdown()
        let report = VerdictReport(verdict, checks: checks, calls: endpoint.calls)
        try StandardOutput.write(try report.json() + Data("\n".utf8))
        if !report.isVerified { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    /// A file's name for people. Evidence that was given in its place is not to be shown, and is longer than names are.
    static func shown(_ file: String) -> String {
        file.utf8.count > 200 ? "what was given in place of a file's name" : file
    }

    private func evidence() throws -> [UInt8] {
        if file == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw ExitStatus.failed.saying("\(Self.shown(file)): the file cannot be read; - reads standard input")
        }
        return Array(data)
    }

    private func submission(_ bytes: [UInt8], _ bundleIDs: [BundleID]) throws -> Submission {
        switch SingleVerification.read(bytes) {
        case .submission(let submission): return submission
        case .malformed(let detail): throw ExitStatus.failed.saying("\(file): \(detail)")
        case .evidence(let evidence):
            guard let bundleID = app.map({ BundleID($0) }) ?? (bundleIDs.count == 1 ? bundleIDs.first : nil) else {
                throw ExitStatus.usage.saying("several apps are configured; say which with --app")
            }
            return Submission(id: "verify", userID: "verify", bundleID: bundleID, evidence: evidence)
        }
    }
}
