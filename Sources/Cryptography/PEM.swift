internal import CLibcrypto

/// Lends a text to OpenSSL as a source of bytes; nil if memory is out, or the result is.
func withMemoryBIO<Result>(_ text: String, _ body: (OpaquePointer) -> Result?) -> Result? {
    OpenSSL.begin()
    var text = text
    return text.withUTF8 { bytes in
        guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
        defer { BIO_free(bio) }
        return body(bio)
    }
}

/// The contents of a text's PEM blocks, in their order (RFC 7468); nil if one is damaged, locked with a password, or
/// has another label. Text around the blocks is passed over.
func pemBlocks(_ label: String, in text: String) -> [[UInt8]]? {
    let begin = Array("-----BEGIN ".utf8)
    let bytes = Array(text.utf8)
    let expected = bytes.indices.count { bytes[$0...].starts(with: begin) }
    let blocks = withMemoryBIO(text) { bio in
        var blocks: [[UInt8]] = []
        while let block = nextBlock(bio) {
            guard block.label == label, block.isPlain else { return nil as [[UInt8]]? }
            blocks.append(block.content)
        }
        return blocks
    }
    ERR_clear_error()
    return blocks?.count == expected ? blocks : nil
}

private func nextBlock(_ bio: OpaquePointer) -> (label: String, isPlain: Bool, content: [UInt8])? {
    var label: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var data: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard PEM_read_bio(bio, &label, &header, &data, &count) == 1, let label, let header, let data else { return nil }
    defer {
        CRYPTO_free(label, nil, 0)
        CRYPTO_free(header, nil, 0)
        CRYPTO_free(data, nil, 0)
    }
    return (String(cString: label), header[0] == 0, Array(UnsafeBufferPointer(start: data, count: count)))
}

/// Answers for a password that there is none: OpenSSL would ask at the terminal.
let refusePassword: @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
    _, _, _, _ in -1
}
