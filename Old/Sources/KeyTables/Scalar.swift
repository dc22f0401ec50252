internal import CLibgmp

/// A number of GMP's, for arithmetic modulo the order of the curve: GMP finds an inverse in a tenth of OpenSSL's time.
final class Scalar {
    /// Most bytes of a number that is written: all are below the order.
    static let maxBytes = 32

    /// GMP's limbs hang on it; freed with the object.
    private let integer = UnsafeMutablePointer<__mpz_struct>.allocate(capacity: 1)

    /// - Parameter bytes: the value, big-endian; none is 0.
    init(_ bytes: [UInt8] = []) {
        grantor_integer_init(integer)
        read(bytes[...])
    }

    deinit {
        grantor_integer_clear(integer)
        integer.deallocate()
    }

    /// Takes a value, big-endian.
    func read(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { grantor_integer_read(integer, $0.baseAddress, $0.count) }
    }

    /// Gives the value, big-endian and without leading zeros; it has to be below the order.
    ///
    /// - Returns: how many bytes it has.
    func write(to bytes: inout [UInt8]) -> Int {
        let count = grantor_integer_bytes(integer)
        precondition(count <= bytes.count, "a number that was not reduced")
        bytes.withUnsafeMutableBytes { grantor_integer_write(integer, $0.baseAddress) }
        return count
    }

    func isPositive(below limit: Scalar) -> Bool {
        grantor_integer_is_zero(integer) == 0 && grantor_integer_compare(integer, limit.integer) < 0
    }

    /// - Returns: false if it has no inverse.
    func invert(modulo modulus: Scalar) -> Bool {
        grantor_integer_inverse(integer, integer, modulus.integer) != 0
    }

    func becomeProduct(_ one: Scalar, _ other: Scalar, modulo modulus: Scalar) {
        grantor_integer_multiply(integer, one.integer, other.integer, modulus.integer)
    }
}
