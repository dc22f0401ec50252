// swift-tools-version: 6.2
import PackageDescription

// Each flag makes a mistake visible that the default language mode lets pass.
let settings: [SwiftSetting] = [
    // SE-0335: an existential is spelled `any`, so that its cost shows.
    .enableUpcomingFeature("ExistentialAny"),
    // SE-0444: members come only from modules that the file imports.
    .enableUpcomingFeature("MemberImportVisibility"),
    // SE-0409: a dependency becomes part of a public interface only on purpose.
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let certificates = Target.Dependency.product(name: "X509", package: "swift-certificates")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "_CryptoExtras", package: "swift-crypto")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let metricsTestKit = Target.Dependency.product(name: "MetricsTestKit", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

// A sanitizer brings an allocator of its own: see `make sanitize`.
let allocator: [Target.Dependency] = Context.environment["GRANTOR_SANITIZING"] == nil ? ["CJemalloc"] : []

let package = Package(
    name: "grantor",
    products: [
        .executable(name: "grantor", targets: ["grantor"]),
        .library(name: "Kafka", targets: ["Kafka"]),
        .library(name: "HTTPTransport", targets: ["HTTPTransport"]),
        // Loaded into the mock broker by those who start it.
        .library(name: "KeptMemory", type: .dynamic, targets: ["KeptMemory"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CLibrdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),

        .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibgmp", pkgConfig: "gmp", providers: [.apt(["libgmp-dev"])]),
        .systemLibrary(name: "CLibjemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
        // Whatever links it has jemalloc for its allocator, set as settings.c says.
        .target(name: "CJemalloc", dependencies: ["CLibjemalloc"], linkerSettings: [.linkedLibrary("jemalloc")]),
        .systemLibrary(name: "CSQLiteSettings", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

        .target(name: "Purchases", dependencies: [crypto]),
        .target(name: "JSONReading"),
        .target(name: "KeyTables", dependencies: ["CLibcrypto", "CLibgmp"]),
        .target(
            name: "AppStore",
            dependencies: ["Purchases", "JSONReading", "KeyTables", asn1, certificates, crypto, cryptoExtras]),
        .target(
            name: "Ledger",
            dependencies: ["CLibpq", "CSQLiteSettings", "Purchases", grdb, sqlite, crypto, logging, metrics]),
        .target(name: "Kafka", dependencies: ["CLibrdkafka", logging, metrics]),
        .target(name: "HTTPTransport", dependencies: ["CLibcurl", logging, metrics]),
        .target(
            name: "Fulfillment",
            dependencies: [
                "Purchases", "JSONReading", "AppStore", "Ledger", "Kafka", "HTTPTransport", crypto, logging, metrics,
            ]),
        .target(
            name: "Audit", dependencies: ["Purchases", "Ledger", "Kafka", "Fulfillment", crypto, logging]),
        .target(
            name: "AppStoreSimulator",
            dependencies: [
                "Purchases", asn1, certificates, crypto, cryptoExtras, nioCore, nioPosix, nioHTTP1, nioSSL, logging,
            ]),
        .target(
            name: "Worker",
            dependencies: allocator + [
                "Purchases", "AppStore", "Ledger", "Kafka", "HTTPTransport", "Fulfillment", "Audit",
                "AppStoreSimulator",
                argumentParser, configuration, hummingbird, hummingbirdCore, lifecycle, nioCore, nioPosix, unixSignals,
                logging, metrics, yams,
            ]),
        .executableTarget(name: "grantor", dependencies: ["Worker", argumentParser]),

        .executableTarget(
            name: "grantor-bench",
            dependencies: [
                "CLibcurl", "CLibpq", "AppStore", "AppStoreSimulator", "Fulfillment", "HTTPTransport", "Kafka",
                "Ledger", "PostgresTesting", "Purchases", "SystemTesting", argumentParser, crypto, grdb, nioCore,
                nioPosix, nioSSL, logging,
            ],
            path: "Benchmarks", exclude: ["baseline.json"]),
        .testTarget(
            name: "BenchmarksTests",
            dependencies: ["grantor-bench", "AppStoreSimulator", "Kafka", "Purchases", grdb, nioCore, nioEmbedded]),

        .executableTarget(
            name: "grantor-chaos",
            dependencies: [
                "AppStoreSimulator", "InventoryTesting", "Kafka", "Ledger", "PostgresTesting", "Purchases",
                "SystemTesting", argumentParser, crypto, nioCore, nioPosix, logging,
            ],
            path: "Chaos"),
        .testTarget(
            name: "ChaosTests",
            dependencies: [
                "grantor-chaos", "AppStoreSimulator", "Kafka", "Ledger", "Purchases", "SystemTesting", nioCore,
                nioPosix,
            ]),

        .target(
            name: "FuzzTargets", dependencies: ["Purchases", "AppStore", "Fulfillment"], path: "Fuzzing/Targets"),
        .testTarget(name: "FuzzTargetsTests", dependencies: ["FuzzTargets"]),

        .testTarget(name: "PurchasesTests", dependencies: ["Purchases", crypto]),
        .testTarget(name: "JSONReadingTests", dependencies: ["JSONReading"]),
        .testTarget(name: "KeyTablesTests", dependencies: ["KeyTables", crypto]),
        .testTarget(
            name: "AppStoreTests", dependencies: ["AppStore", "Purchases", asn1, certificates, crypto, cryptoExtras]),
        .target(name: "LedgerConformance", dependencies: ["Purchases", "Ledger"], path: "Tests/LedgerConformance"),
        // What tests of whole processes share.
        .target(name: "SystemTesting", path: "Tests/SystemTesting"),
        .target(name: "PostgresTesting", dependencies: ["SystemTesting"], path: "Tests/PostgresTesting"),
        .target(name: "InventoryTesting", dependencies: [nioCore, nioPosix], path: "Tests/InventoryTesting"),
        .testTarget(
            name: "LedgerTests",
            dependencies: ["Purchases", "Ledger", "LedgerConformance", "PostgresTesting", grdb, logging]),
        .target(name: "KeptMemory", path: "Tests/KeptMemory"),
        .executableTarget(name: "kafka-mock-broker", dependencies: ["Kafka"], path: "Tests/KafkaMockBroker"),
        .testTarget(
            name: "KafkaTests",
            dependencies: ["CLibrdkafka", "Kafka", "SystemTesting", "kafka-mock-broker", logging, metrics]),
        .testTarget(
            name: "HTTPTransportTests",
            dependencies: [
                "HTTPTransport", certificates, crypto, nioCore, nioPosix, nioHTTP1, nioSSL, logging, metrics,
                metricsTestKit,
            ]),
        .testTarget(
            name: "FulfillmentTests",
            dependencies: [
                "Fulfillment", "Audit", "Purchases", "Ledger", "Kafka", "AppStore", "AppStoreSimulator",
                "HTTPTransport", "InventoryTesting", grdb, logging, metricsTestKit,
            ]),
        .testTarget(
            name: "AuditTests",
            dependencies: ["Audit", "Purchases", "Ledger", "LedgerConformance", "Fulfillment", "Kafka", logging]),
        // Depends on the executables so that they are built beside it; it runs them as processes of their own.
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "grantor", "kafka-mock-broker", "AppStoreSimulator", "InventoryTesting", "Kafka", "Ledger",
                "PostgresTesting", "Purchases", "SystemTesting", nioCore, nioPosix, logging,
            ]),
        .testTarget(
            name: "WorkerTests",
            dependencies: [
                "Worker", "Purchases", "Ledger", "Kafka", "AppStore", "Fulfillment", "Audit", "PostgresTesting",
                "LedgerConformance", argumentParser, crypto,
                hummingbird, lifecycle, logging, metrics, nioCore, nioEmbedded, nioPosix,
            ]),
        .testTarget(
            name: "AppStoreSimulatorTests",
            dependencies: [
                "AppStoreSimulator", "Purchases", "SystemTesting", asn1, certificates, crypto, nioCore, nioPosix,
                nioHTTP1, nioSSL, logging,
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// Needs libFuzzer, which only a build with -sanitize=fuzzer links in: see `make fuzz`.
if Context.environment["GRANTOR_FUZZING"] != nil {
    package.targets += [
        .target(name: "CFuzzer", path: "Fuzzing/CFuzzer"),
        .executableTarget(name: "grantor-fuzz", dependencies: ["CFuzzer", "FuzzTargets"], path: "Fuzzing/Driver"),
    ]
}

for target in package.targets where target.type != .system {
    target.swiftSettings = settings
}
