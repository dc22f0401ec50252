import CFuzzer
import FuzzTargets
import Glibc

/// `grantor-fuzz TARGET [libFuzzer's arguments]` feeds a target with bytes, derived from inputs that reached new code.
///
/// The first input that breaks a rule ends the process and is written to a file named `crash-...`. Mend the fault, and
/// put the file into `Tools/Fuzzing/cases/TARGET`, where the tests run it again.
@main
enum GrantorFuzz {
    static func main() {
        guard CommandLine.arguments.count > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
            let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")
            print("usage: grantor-fuzz \(names) [libFuzzer's arguments]")
            exit(64)
        }
        chosen = target
        // libFuzzer must not see the target's name: the program's own name takes its place.
        let arguments = CommandLine.unsafeArgv
        arguments[1] = arguments[0]
        var count = CommandLine.argc - 1
        var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments + 1
        exit(
            LLVMFuzzerRunDriver(&count, &values) { data, size in
                let bytes = Array(UnsafeBufferPointer(start: data, count: size))
                do throws(BrokenRule) {
                    try GrantorFuzz.chosen.run(bytes)
                } catch {
                    // libFuzzer learns of a fault by a crash.
                    fatalError(error.rule)
                }
                return 0
            })
    }

    /// libFuzzer's callback takes no context. Written once before it is first called, on the same thread.
    nonisolated(unsafe) fileprivate static var chosen = FuzzTarget.httpRequest
}
