import Foundation

/// Says on standard error what goes on; standard output is for results.
enum Progress {
    static func say(_ text: String) {
        FileHandle.standardError.write(Data("\(text) ...\n".utf8))
    }
}
