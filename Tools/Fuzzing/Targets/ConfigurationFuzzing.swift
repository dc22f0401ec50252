internal import Configuration
internal import Contract
internal import Glibc

/// A configuration is taken or refused, and a refusal is one line.
enum ConfigurationFuzzing {
    static func apps(_ bytes: [UInt8]) throws(BrokenRule) {
        try withFile(bytes) { path throws(ConfigurationError) in
            let apps = try ConfiguredApps(file: path)
            return Set(apps.all.map(\.app.bundleID)).count == apps.all.count && !apps.all.isEmpty
        }
    }

    static func settings(_ bytes: [UInt8]) throws(BrokenRule) {
        try withFile(bytes) { path throws(ConfigurationError) in
            _ = try WorkerConfiguration(SettingValues.load(file: path, environment: [:]))
            return true
        }
    }

    private static func withFile(
        _ bytes: [UInt8], _ read: (String) throws(ConfigurationError) -> Bool
    ) throws(BrokenRule) {
        // One file for a process: a target runs on one thread.
        let path = "/tmp/grantor-fuzz-\(getpid())-\(pthread_self()).yaml"
        guard let file = fopen(path, "w") else { throw BrokenRule("a file can be written") }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        defer { unlink(path) }
        var isSound = true
        do throws(ConfigurationError) {
            isSound = try read(path)
        } catch {
            guard "\(error)".unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
                throw BrokenRule("a refusal is more than one line")
            }
        }
        guard isSound else { throw BrokenRule("two apps have one bundle id, or there is none") }
    }
}
