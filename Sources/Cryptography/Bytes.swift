/// Lends the bytes of a collection; copies them only if they do not lie together.
func withContiguousBytes<Result>(
    of bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result
) -> Result {
    if let result = bytes.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
    return Array(bytes).withUnsafeBytes(body)
}

/// Lends the bytes of a value that holds nothing but its bytes.
func withContiguousBytes<Value: BitwiseCopyable, Result, Failure: Error>(
    ofValue value: Value, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withUnsafePointer(to: value) { pointer throws(Failure) in
        try body(UnsafeRawBufferPointer(start: pointer, count: MemoryLayout<Value>.size))
    }
}

/// Two lowercase digits a byte.
func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { digits in
        for (index, byte) in bytes.enumerated() {
            digits[2 * index] = hexadecimalDigit(byte >> 4)
            digits[2 * index + 1] = hexadecimalDigit(byte & 15)
        }
        return bytes.count * 2
    }
}

private func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
