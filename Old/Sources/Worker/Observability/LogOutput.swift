/// Where log lines go.
struct LogOutput: Sendable {
    /// Writes one line, its line break included, in one piece.
    let write: @Sendable ([UInt8]) -> Void

    /// The process's standard error. Lines of several loggers never mix.
    static let standardError = LogOutput(DescriptorWriter.standardError)

    /// An output that hands lines to a function.
    init(write: @escaping @Sendable ([UInt8]) -> Void) {
        self.write = write
    }

    private init(_ writer: DescriptorWriter) {
        self.init { writer.write($0) }
    }
}
