import Glibc

// Plays a day of a game's purchases on a broker, an App Store and a ledger of its own. Apple goes away on the way, and
// the worker is killed. Exit code 0 says that everything came out as it must.

/// The folder with the other programs: that of this one.
func ownFolder() -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let path = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return path.lastIndex(of: "/").map { String(path[..<$0]) }
}

func remove(folder: String) {
    guard let entries = opendir(folder) else { return }
    while let entry = readdir(entries) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink(folder + "/" + name) }
    }
    closedir(entries)
    rmdir(folder)
}

let ledgers = CommandLine.arguments.dropFirst()
guard ledgers.count <= 1, ledgers.allSatisfy({ $0.hasPrefix("postgres") }) else {
    print("usage: grantor-demo [postgres://EMPTY-DATABASE]\nruns the programs grantor and kafka-mock beside it")
    exit(64)
}
var template = Array("/tmp/grantor-demo-XXXXXX".utf8CString)
guard let programs = ownFolder(), let made = mkdtemp(&template) else {
    print("grantor-demo: no temporary folder (errno \(errno))")
    exit(1)
}
let folder = String(cString: made)
do {
    let demo = Demo(
        grantor: programs + "/grantor", kafkaMock: programs + "/kafka-mock", folder: folder,
        ledgerURL: ledgers.first)
    if try demo.run() {
        remove(folder: folder)
        exit(0)
    }
    print("The worker's log and ledger are in \(folder).")
} catch {
    print("\nThe demo broke off: \(error)\nThe worker's log and ledger are in \(folder).")
}
exit(1)
