import Glibc
import Testing

@testable import HTTPServer

struct PeerAddressTests {
    private static func peer(_ text: String) -> PeerAddress {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { bytes in
            var version4 = sockaddr_in()
            var version6 = sockaddr_in6()
            if inet_pton(AF_INET, text, &version4.sin_addr) == 1 {
                version4.sin_family = sa_family_t(AF_INET)
                bytes.storeBytes(of: version4, as: sockaddr_in.self)
            } else if inet_pton(AF_INET6, text, &version6.sin6_addr) == 1 {
                version6.sin6_family = sa_family_t(AF_INET6)
                bytes.storeBytes(of: version6, as: sockaddr_in6.self)
            }
        }
        return PeerAddress(storage)
    }

    @Test func `addresses of version 4 are told apart, however they are spelt`() {
        #expect(Self.peer("192.0.2.1") == Self.peer("::ffff:192.0.2.1"))
        #expect(Self.peer("192.0.2.1") != Self.peer("192.0.2.2"))
    }

    @Test func `a network of version 6 counts as one address`() {
        #expect(Self.peer("2001:db8:1:2::1") == Self.peer("2001:db8:1:2:ffff::2"))
        #expect(Self.peer("2001:db8:1:2::1") != Self.peer("2001:db8:1:3::1"))
        #expect(Self.peer("::1") != Self.peer("2001:db8::1"))
        #expect(Self.peer("") == .unknown)
    }
}
