import CertificateMaking
import Contract
import Cryptography
import Testing

@testable import AppStore

@Suite("Chains of certificates")
struct ChainVerifierTests {
    /// One way in which a chain differs from Apple's, and its error or objection; nil for a chain that holds.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: ChainError?
        let objection: ChainError?
        let change: @Sendable (inout ChainBuilder) -> Void

        init(
            _ description: String, _ error: ChainError? = nil, signed objection: ChainError? = nil,
            _ change: @escaping @Sendable (inout ChainBuilder) -> Void
        ) {
            testDescription = description
            self.error = error
            self.objection = objection
            self.change = change
        }
    }

    static let critical = ChainBuilder.Extension(ChainBuilder.unknown, isCritical: true, value: DER.null)
    static let ignorable = ChainBuilder.Extension(ChainBuilder.unknown, value: DER.null)

    static let cases = [
        Case("nothing changed", nil) { _ in },
        Case("an intermediate without a path length", nil) {
            $0.intermediate.constraints = .basicConstraints(isAuthority: true)
        },
        Case("a leaf without constraints or usage", nil) {
            $0.leaf.constraints = nil
            $0.leaf.usage = nil
        },
        Case("a leaf on P-384", nil) { $0.leaf.key = .new(.p384) },
        Case("an unknown extension that is not critical", nil) {
            $0.leaf.extensions = [ignorable]
            $0.intermediate.extensions = [ignorable]
        },
        Case("expired long ago", nil) {
            for link in [\ChainBuilder.leaf, \.intermediate, \.root] {
                $0[keyPath: link].notBefore = Timestamp(milliseconds: 1_000_000_000_000)
                $0[keyPath: link].notAfter = Timestamp(milliseconds: 1_100_000_000_000)
            }
        },
        Case("an intermediate that is no authority", signed: .wrongRole) {
            $0.intermediate.constraints = .basicConstraints(isAuthority: false)
        },
        Case("an intermediate without constraints", signed: .wrongRole) { $0.intermediate.constraints = nil },
        Case("a leaf that is an authority", signed: .wrongRole) {
            $0.leaf.constraints = .basicConstraints(isAuthority: true)
        },
        Case("an intermediate that may not sign certificates", signed: .wrongUsage) {
            $0.intermediate.usage = .keyUsage(.digitalSignature)
        },
        Case("a leaf that may not sign", signed: .wrongUsage) { $0.leaf.usage = .keyUsage(.keyEncipherment) },
        Case("an intermediate without Apple's marker", signed: .wrongPurpose) { $0.intermediate.marker = nil },
        Case("a leaf without Apple's marker: a developer's certificate", .wrongPurpose) { $0.leaf.marker = nil },
        Case("a leaf with the intermediate's marker", .wrongPurpose) {
            $0.leaf.marker = ChainBuilder.intermediateMarker
        },
        Case("an unknown critical extension of the leaf", signed: .unknownCriticalExtension) {
            $0.leaf.extensions = [critical]
        },
        Case("an unknown critical extension of the intermediate", signed: .unknownCriticalExtension) {
            $0.intermediate.extensions = [critical]
        },
        Case("an unknown critical extension of the root: it is pinned", nil) { $0.root.extensions = [critical] },
        Case("markers that are critical", nil) {
            $0.leaf.marker = nil
            $0.leaf.extensions = [ChainBuilder.Extension(ChainBuilder.leafMarker, isCritical: true, value: DER.null)]
        },
        Case("an intermediate that says nothing of its use", nil) { $0.intermediate.usage = nil },
        Case("a leaf of version 1", .unreadable) {
            $0.leaf.version = 1
            $0.leaf.constraints = nil
            $0.leaf.usage = nil
            $0.leaf.marker = nil
        },
        Case("an intermediate of version 1", .unreadable) {
            $0.intermediate.version = 1
            $0.intermediate.constraints = nil
            $0.intermediate.usage = nil
            $0.intermediate.marker = nil
        },
        Case("a leaf that says twice what it is", .unreadable) {
            $0.leaf.extensions = [.basicConstraints(isAuthority: false)]
        },
        Case("a leaf with its marker twice", .unreadable) {
            $0.leaf.extensions = [ChainBuilder.Extension(ChainBuilder.leafMarker, value: DER.null)]
        },
        Case("a leaf for key agreement alone", signed: .wrongUsage) { $0.leaf.usage = .keyUsage(.keyAgreement) },
        Case("a leaf that is an authority over nothing", signed: .wrongRole) {
            $0.leaf.constraints = .basicConstraints(isAuthority: true, pathLength: 0)
        },
        Case("a leaf signed over MD5", .unknownAlgorithm) {
            $0.intermediate.key = .new(.rsa(bits: 2048))
            $0.leaf.digest = .md5
        },
        Case("an intermediate signed over MD5", .unknownAlgorithm) {
            $0.root.key = .new(.rsa(bits: 2048))
            $0.intermediate.digest = .md5
        },
        Case("an issuer whose name differs in case alone", .untrusted) { $0.intermediate.issuer = "ROOT" },
        Case("an issuer whose name differs in spaces alone", .untrusted) { $0.intermediate.issuer = "Root  " },
        Case("an intermediate whose name differs in case alone", .broken) { $0.leaf.issuer = "INTERMEDIATE" },
        Case("a leaf that names another issuer", .broken) { $0.leaf.issuer = "Elsewhere" },
        Case("a leaf that somebody else signed", .broken) {
            $0.leaf.signer = .new(.p384)
        },
        Case("an intermediate that names another issuer", .untrusted) { $0.intermediate.issuer = "Elsewhere" },
        Case("an intermediate that somebody else signed", .untrusted) {
            $0.intermediate.signer = .new(.p384)
        },
        Case("a leaf that begins when the intermediate has ended", .neverValid) {
            $0.intermediate.notAfter = Fixture.now
            $0.leaf.notBefore = Fixture.now.advanced(by: .seconds(60))
        },
        Case("a leaf that ends before it begins", .neverValid) {
            $0.leaf.notAfter = ChainBuilder.start.advanced(by: .seconds(-60))
        },
        Case("a certificate that is too large", .tooLarge) {
            $0.leaf.extensions = [
                ChainBuilder.Extension(
                    ChainBuilder.unknown, value: [UInt8](repeating: 0, count: ChainVerifier.maxCertificateBytes))
            ]
        },
    ]

    private func result(_ builder: ChainBuilder, roots: TrustedRoots? = nil) throws -> Result<VerifiedChain, ChainError>
    {
        let verifier = ChainVerifier(roots: try roots ?? builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        return Result { () throws(ChainError) in try verifier.verify(leaf: leaf[...], intermediate: intermediate[...]) }
    }

    @Test("a chain holds or does not", arguments: cases)
    func verdicts(_ testCase: Case) throws {
        let result = try result(ChainBuilder(testCase.change))
        #expect(result.error == testCase.error)
        #expect((result.value != nil) == (testCase.error == nil))
        #expect(result.value?.objection == testCase.objection)
    }

    @Test("what a stranger signed has no objection, but the fault", arguments: cases.filter { $0.objection != nil })
    func strangers(_ testCase: Case) throws {
        let builder = ChainBuilder(testCase.change)
        #expect(try result(builder, roots: ChainBuilder().roots()).error == testCase.objection)
        var forged = builder
        forged.leaf.signer = .new(.p384)
        #expect(try result(forged).error == testCase.objection)
        var developers = builder
        developers.leaf.marker = nil
        #expect(try result(developers).error != nil, "developers have such certificates of Apple's")
    }

    @Test("RSA all the way, as old receipts have it")
    func rsa() throws {
        let keys = try (0..<3).map { _ in try PrivateKey.make(.rsa(bits: 2048)) }
        let builder = ChainBuilder {
            $0.root.key = keys[0]
            $0.intermediate.key = keys[1]
            $0.leaf.key = keys[2]
        }
        #expect(try result(builder).value?.key == keys[2].publicKey)
    }

    @Test("a chain says whether SHA-1 is in it, and counts for what may have that alone")
    func sha1() throws {
        let strong = ChainBuilder { $0.intermediate.key = .new(.rsa(bits: 2048)) }
        #expect(try result(strong).value?.isSignedWithSHA1 == false)
        var weak = strong
        weak.leaf.digest = .sha1
        #expect(try result(weak).value?.isSignedWithSHA1 == true)
    }

    @Test("an intermediate that is trusted itself ends no chain")
    func trustedIntermediate() throws {
        let builder = ChainBuilder()
        let intermediate = try Certificate(der: builder.intermediateDER())
        let roots = TrustedRoots(certificates: [intermediate])
        #expect(try result(builder, roots: roots).error == .untrusted)
    }

    @Test("a root of one's own of the same name is not trusted, whatever is presented")
    func ownRoot() throws {
        #expect(try result(ChainBuilder(), roots: ChainBuilder().roots()).error == .untrusted)
        #expect(try result(ChainBuilder(), roots: .ofApple()).error == .untrusted)
    }

    @Test("of several roots of one name the one that signed counts")
    func severalRoots() throws {
        let builder = ChainBuilder()
        let roots = TrustedRoots(
            certificates: try [
                ChainBuilder().rootCertificate(), builder.rootCertificate(), ChainBuilder().rootCertificate(),
            ])
        #expect(try result(builder, roots: roots).error == nil)
    }

    @Test("the leaf as its own intermediate, and the root as one, are refused")
    func otherOrders() throws {
        let builder = ChainBuilder()
        let verifier = ChainVerifier(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        let root = try builder.rootDER()
        for (first, second, error) in [
            (leaf, leaf, ChainError.wrongRole), (intermediate, leaf, .wrongRole), (leaf, root, .wrongPurpose),
            (intermediate, root, .wrongRole),
        ] {
            #expect(throws: error) { try verifier.verify(leaf: first[...], intermediate: second[...]) }
        }
    }

    @Test("bytes that are no certificate are refused")
    func unreadable() throws {
        let builder = ChainBuilder()
        let verifier = ChainVerifier(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        for bytes in [[], [0x30, 0x00], Array(leaf.dropLast()), leaf + [0], Array(repeating: 0x30, count: 4_000)] {
            #expect(throws: ChainError.unreadable) {
                try verifier.verify(leaf: bytes[...], intermediate: intermediate[...])
            }
            #expect(throws: ChainError.unreadable) { try verifier.verify(leaf: leaf[...], intermediate: bytes[...]) }
        }
    }

    @Test("validity is the time that all three have in common, and not held against the present")
    func intersection() throws {
        let builder = ChainBuilder {
            $0.root.notBefore = Timestamp(milliseconds: 1_000_000_000_000)
            $0.intermediate.notBefore = Timestamp(milliseconds: 1_100_000_000_000)
            $0.leaf.notBefore = Timestamp(milliseconds: 1_050_000_000_000)
            $0.root.notAfter = Timestamp(milliseconds: 1_500_000_000_000)
            $0.intermediate.notAfter = Timestamp(milliseconds: 1_400_000_000_000)
            $0.leaf.notAfter = Timestamp(milliseconds: 1_300_000_000_000)
        }
        let expected = Timestamp(milliseconds: 1_100_000_000_000)...Timestamp(milliseconds: 1_300_000_000_000)
        #expect(try result(builder).value?.validity == expected)
    }

    @Test("Apple's own chain holds, from the leaf's first to its last second")
    func apple() throws {
        let chain = try ChainVerifier(roots: .ofApple())
            .verify(leaf: ChainOfApple.leaf()[...], intermediate: ChainOfApple.intermediate()[...])
        #expect(chain.key.kind == .p256)
        #expect(chain.validity.lowerBound.rfc3339 == "2025-09-19T19:44:51.000Z")
        #expect(chain.validity.upperBound.rfc3339 == "2027-10-13T17:47:23.000Z")
        #expect(chain.validity.contains(Fixture.now))
        #expect(!chain.validity.contains(Timestamp(milliseconds: 1_700_000_000_000)))
    }

    @Test("one changed byte anywhere in Apple's certificates, and they do not hold")
    func damagedApple() throws {
        let verifier = ChainVerifier(roots: try .ofApple())
        let leaf = try ChainOfApple.leaf()
        let intermediate = try ChainOfApple.intermediate()
        for index in stride(from: 0, to: leaf.count, by: 7) {
            var damaged = leaf
            damaged[index] ^= 0x01
            #expect(throws: ChainError.self) {
                try verifier.verify(leaf: damaged[...], intermediate: intermediate[...])
            }
        }
        for index in stride(from: 0, to: intermediate.count, by: 7) {
            var damaged = intermediate
            damaged[index] ^= 0x01
            #expect(throws: ChainError.self) { try verifier.verify(leaf: leaf[...], intermediate: damaged[...]) }
        }
    }

    @Test("every error has a sentence of its own")
    func details() {
        #expect(Set(ChainError.allCases.map(\.detail)).count == ChainError.allCases.count)
    }
}

@Suite("Remembered chains")
struct ChainCacheTests {
    private let builder = ChainBuilder()

    /// Bytes that are no certificate, different for each number.
    private func junk(_ number: Int) -> [UInt8] {
        [0x30, 0x82] + (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private func error(_ cache: ChainCache, _ leaf: [UInt8], _ intermediate: [UInt8]) -> ChainError? {
        Result { () throws(ChainError) in try cache.chain(leaf: leaf[...], intermediate: intermediate[...]) }.error
    }

    @Test("a chain is verified once, whether or not it holds")
    func once() throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        for _ in 0..<10 {
            #expect(error(cache, leaf, intermediate) == nil)
            #expect(error(cache, leaf, junk(0)) == .unreadable)
        }
        #expect(cache.verifications == 2)
        #expect(cache.counts == (1, 1))
    }

    @Test("what is remembered is the same chain")
    func same() throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        let first = try cache.chain(leaf: leaf[...], intermediate: intermediate[...])
        let second = try cache.chain(leaf: leaf[...], intermediate: intermediate[...])
        #expect(first.key == second.key)
        #expect(first.validity == second.validity)
    }

    @Test("where one certificate ends and the next begins is part of what is remembered")
    func boundaries() throws {
        let cache = ChainCache(roots: try builder.roots())
        let both = try builder.leafDER() + builder.intermediateDER()
        _ = error(cache, Array(both[..<100]), Array(both[100...]))
        _ = error(cache, Array(both[..<101]), Array(both[101...]))
        #expect(cache.verifications == 2)
    }

    @Test("100,000 chains that do not hold take bounded room, and the good one stays")
    func floodOfBad() throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        #expect(error(cache, leaf, intermediate) == nil)
        for number in 0..<100_000 { _ = error(cache, junk(number), []) }
        #expect(cache.counts == (1, ChainCache.maxBad))
        let misses = cache.verifications
        #expect(misses == 100_001)
        // The last ones are remembered, and so is the good one.
        #expect(error(cache, junk(99_999), []) == .unreadable)
        #expect(error(cache, junk(100_000 - ChainCache.maxBad), []) == .unreadable)
        #expect(error(cache, leaf, intermediate) == nil)
        #expect(cache.verifications == misses)
    }

    @Test("more chains that hold than there is room for: the one in use stays")
    func floodOfGood() throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        for _ in 0..<2 { #expect(error(cache, leaf, intermediate) == nil) }
        for _ in 0..<(ChainCache.maxGood * 2) { #expect(error(cache, try builder.leafDER(), intermediate) == nil) }
        #expect(cache.counts == (ChainCache.maxGood, 0))
        let misses = cache.verifications
        #expect(error(cache, leaf, intermediate) == nil)
        #expect(cache.verifications == misses)
    }

    @Test("too large certificates are not even hashed")
    func tooLarge() throws {
        let cache = ChainCache(roots: try builder.roots())
        let large = [UInt8](repeating: 0, count: ChainVerifier.maxCertificateBytes + 1)
        #expect(error(cache, large, try builder.intermediateDER()) == .tooLarge)
        #expect(error(cache, try builder.leafDER(), large) == .tooLarge)
        #expect(cache.verifications == 0)
    }

    @Test("many tasks at once get what one would")
    func concurrent() async throws {
        let cache = ChainCache(roots: try builder.roots())
        let leaf = try builder.leafDER()
        let intermediate = try builder.intermediateDER()
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).allSatisfy { number in
                        error(cache, leaf, intermediate) == nil
                            && error(cache, junk(task * 500 + number), intermediate) == .unreadable
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(cache.counts == (1, ChainCache.maxBad))
        // Callers that came during the first verification did their own.
        #expect((4_001...4_008).contains(cache.verifications))
    }
}
