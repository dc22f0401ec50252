import Foundation
import SystemTesting

extension ChaosRun {
    /// How long `grantor audit` may take.
    private static let auditLimit = Duration.seconds(300)

    /// Asks the product itself: `grantor audit --drained`. Its answer is kept beside the logs.
    func audited(_ stage: ChaosStage) async throws -> [Violation] {
        let process = try ChildProcess(
            stage.programs.grantor, ["audit", "--drained"], environment: stage.environment, in: stage.folder,
            name: "audit")
        let exit = try await process.exit(within: Self.auditLimit)
        guard exit != .code(0) else { return [] }
        return [Violation(rule: .audited, detail: "\(exit)\n\(process.output.text)\(process.errors.text)")]
    }
}
