import Glibc

// Plays a day of a game's purchases on a broker, an App Store and a ledger. Apple goes away on the way, and parts are
// killed. Exit code 0 says that everything came out as it must.

/// The folder with the other programs: that of this one.
func ownFolder() -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let path = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return path.lastIndex(of: "/").map { String(path[..<$0]) }
}

/// Removes the files of a folder.
func empty(folder: String) {
    guard let entries = opendir(folder) else { return }
    while let entry = readdir(entries) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink(folder + "/" + name) }
    }
    closedir(entries)
}

func remove(folder: String) {
    empty(folder: folder)
    rmdir(folder)
}

/// The stage that the command line asks for.
func stage(_ words: ArraySlice<String>) throws -> any Stage {
    if words.first == "containers" {
        return try Containers(folder: "/demo") { name in getenv(name).map { String(cString: $0) } }
    }
    var template = Array("/tmp/grantor-demo-XXXXXX".utf8CString)
    guard let programs = ownFolder(), let made = mkdtemp(&template) else {
        throw DemoFailure("no temporary folder (errno \(errno))")
    }
    let port = getenv("DEMO_HTTP_PORT").flatMap { Int(String(cString: $0)) }
    return try OwnParts(
        programs: programs, folder: String(cString: made), ledgerURL: words.first, httpPort: port ?? 0)
}

let words = CommandLine.arguments.dropFirst()
guard words.count <= 1, words.allSatisfy({ $0 == "containers" || $0.hasPrefix("postgres") }) else {
    print(
        """
        usage: grantor-demo [postgres://EMPTY-DATABASE | containers]
        runs the programs grantor and kafka-mock beside it, or plays on the stack of containers that it is in
        DEMO_HTTP_PORT: port of the worker's health and metrics, on loopback
        """)
    exit(64)
}
do {
    let stage = try stage(words)
    do {
        if try Demo(on: stage).run() { exit(0) }
    } catch {
        stage.end(passed: false)
        print("\nThe demo broke off: \(error)")
    }
    print(stage.traces)
} catch {
    print("grantor-demo: \(error)")
}
exit(1)
