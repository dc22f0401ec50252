internal import CLibcrypto

/// The curve with a public key in the place of its base point, which is the one that OpenSSL computes multiples of
/// beforehand.
///
/// `@unchecked Sendable`: OpenSSL only reads a group once its table is made.
final class MultiplicationTable: @unchecked Sendable {
    /// Not nil, and owned, from a successful initializer on.
    let group: OpaquePointer

    /// - Returns: nil if the bytes are no point of the curve, or there is no memory.
    init?(key: [UInt8]) {
        guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        self.group = group
        guard key.count == KeyTable.keyBytes, let point = EC_POINT_new(group) else { return nil }
        defer { EC_POINT_free(point) }
        let uncompressed = [4] + key
        // Refuses what is not on the curve.
        guard EC_POINT_oct2point(group, point, uncompressed, uncompressed.count, nil) == 1,
            EC_GROUP_set_generator(group, point, EC_GROUP_get0_order(group), EC_GROUP_get0_cofactor(group)) == 1,
            EC_GROUP_precompute_mult(group, nil) == 1
        else { return nil }
    }

    deinit { EC_GROUP_free(group) }
}
