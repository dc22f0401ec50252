internal import Glibc
internal import Threading

/// The outcome of moving bytes.
enum Transfer: Equatable {
    case bytes(Int)
    /// Nothing moved; try again when the socket is ready for this.
    case blocked(Poller.Interest)
    /// The client sends nothing more.
    case ended
    case failed
}

/// A connection's socket, with TLS on it or without. It closes the descriptor, once.
final class Socket {
    let descriptor: Int32
    private var tls: TLSConnection?
    private var isOpen = true

    /// Takes a descriptor over. Nil if there is no memory for TLS; then it is closed.
    init?(_ descriptor: Int32, identity: TLSIdentity?) {
        self.descriptor = descriptor
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard let identity else { return }
        tls = TLSConnection(identity, descriptor: descriptor)
        guard tls != nil else {
            close()
            return nil
        }
    }

    deinit {
        close()
    }

    /// Zero bytes once reads and writes may begin.
    func handshake() -> Transfer { tls?.handshake() ?? .bytes(0) }

    /// Whether bytes can be read though the descriptor is not ready for it.
    var hasPending: Bool { tls?.hasPending ?? false }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        tls?.read(into: buffer) ?? readRaw(into: buffer)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        if let tls { return tls.write(bytes) }
        while true {
            let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .bytes(count) }
            if errno == EAGAIN { return .blocked(.write) }
            if errno != EINTR { return .failed }
        }
    }

    /// Reads what the client sends, below TLS: for throwing it away.
    func readRaw(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .ended }
            if errno == EAGAIN { return .blocked(.read) }
            if errno != EINTR { return .failed }
        }
    }

    /// Says farewell and sends nothing more; reading goes on.
    func finishWriting() {
        tls?.sayFarewell()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the end of the connection a reset (RST): what a socket does that is closed while it lingers for no time.
    func resetAtClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        tls = nil
        Glibc.close(descriptor)
    }
}
