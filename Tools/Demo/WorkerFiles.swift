import AppStoreSimulator
import Glibc

/// The apps file that workers of the demo read, and the secrets that it names.
struct WorkerFiles {
    let folder: String
    let mode: mode_t

    var apps: String { folder + "/apps.yaml" }

    /// Writes them, the apps file last.
    func write(key: ServerAPIKey) throws {
        let keyFile = folder + "/key.p8"
        try key.save(to: keyFile)
        chmod(keyFile, mode)
        let secretFile = folder + "/shared-secret"
        try write(Catalogue.sharedSecret, to: secretFile)
        try write(Catalogue.yaml(key: key, keyFile: keyFile, secretFile: secretFile), to: apps)
    }

    func write(_ text: String, to file: String) throws(DemoFailure) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw DemoFailure("\(file) cannot be written (errno \(errno))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw DemoFailure("\(file) cannot be written (errno \(errno))")
        }
    }
}
