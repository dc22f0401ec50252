internal import CLibcrypto

/// Everything that one check at a time computes in, so that none of them allocates.
///
/// `@unchecked Sendable`: whoever took it out of the list of free ones is alone with it.
final class Workspace: @unchecked Sendable {
    // OpenSSL's functions take nil where they free, and nothing is used before the initializer has looked at all of them.
    private let curve = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
    private let context = BN_CTX_new()
    private let factor = BN_new()
    private let abscissa = BN_new()
    private let sum: OpaquePointer?
    private let product: OpaquePointer?
    private let order = Scalar(Curve.order)
    private let r = Scalar()
    private let s = Scalar()
    private let z = Scalar()
    private let u = Scalar()
    /// Big-endian, for what goes from one library to the other.
    private var bytes = [UInt8](repeating: 0, count: Scalar.maxBytes)

    /// - Returns: nil if there is no memory.
    init?() {
        sum = curve.flatMap { EC_POINT_new($0) }
        product = curve.flatMap { EC_POINT_new($0) }
        guard context != nil, factor != nil, abscissa != nil, sum != nil, product != nil else { return nil }
    }

    deinit {
        EC_POINT_free(sum)
        EC_POINT_free(product)
        EC_GROUP_free(curve)
        BN_CTX_free(context)
        BN_free(factor)
        BN_free(abscissa)
    }

    /// FIPS 186-5, section 6.4.2: with `w` the inverse of `s`, the point `(z w) G + (r w) Q` has the abscissa `r`.
    func check(_ signature: [UInt8], of digest: [UInt8], with table: MultiplicationTable) -> KeyTable.Answer {
        r.read(signature[..<32])
        s.read(signature[32...])
        z.read(digest[...])
        guard r.isPositive(below: order), s.isPositive(below: order), s.invert(modulo: order) else {
            return .doesNotHold
        }
        u.becomeProduct(z, s, modulo: order)
        guard load(u), EC_POINT_mul(curve, sum, factor, nil, nil, context) == 1 else { return .unknown }
        u.becomeProduct(r, s, modulo: order)
        guard load(u), EC_POINT_mul(table.group, product, factor, nil, nil, context) == 1,
            EC_POINT_add(curve, sum, sum, product, context) == 1
        else { return .unknown }
        guard EC_POINT_is_at_infinity(curve, sum) == 0 else { return .doesNotHold }
        guard EC_POINT_get_affine_coordinates(curve, sum, abscissa, nil, context) == 1,
            let order = EC_GROUP_get0_order(curve)
        else { return .unknown }
        // The field has a few more elements than the curve has points, so an abscissa is too large once at most.
        if BN_cmp(abscissa, order) >= 0, BN_sub(abscissa, abscissa, order) != 1 { return .unknown }
        guard load(r) else { return .unknown }
        return BN_cmp(abscissa, factor) == 0 ? .holds : .doesNotHold
    }

    /// Makes `factor` a number of GMP's.
    private func load(_ scalar: Scalar) -> Bool {
        let count = scalar.write(to: &bytes)
        return BN_bin2bn(bytes, Int32(count), factor) != nil
    }
}

/// NIST P-256, also called secp256r1.
enum Curve {
    /// How many points it has, big-endian (SEC 2, section 2.4.2).
    static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
}
