// swift-tools-version: 6.2
import Foundation
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

// A sanitizer brings an allocator of its own.
let allocator: [Target.Dependency] = Context.environment["GRANTOR_SANITIZING"] == nil ? ["CJemalloc"] : []

/// The distribution's C libraries.
let libraries: [Target] = [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CLibcrypto", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CLibrdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
    .systemLibrary(name: "CLibyaml", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLibjemalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
    // An executable that links it has jemalloc for its allocator, set as settings.c says.
    .target(name: "CJemalloc", dependencies: ["CLibjemalloc"], linkerSettings: [.linkedLibrary("jemalloc")]),
]

/// The product, from the bottom up.
let modules: [Target] = [
    .target(name: "Threading", dependencies: ["CLinux", "Scheduling"]),
    .target(name: "Scheduling"),
    .target(name: "Logging", dependencies: ["Scheduling", "Threading"]),
    .target(name: "Metrics"),
    .target(name: "Cryptography", dependencies: ["CLibcrypto"]),
    .target(name: "Contract", dependencies: ["Cryptography", "Scheduling"]),
    .target(name: "AppStore", dependencies: ["Contract", "Cryptography"]),
    .target(name: "Fulfilment", dependencies: ["AppStore", "Contract", "Cryptography"]),
    .target(name: "Ledger", dependencies: ["Contract", "Cryptography"]),
    .target(name: "LedgerSQLite", dependencies: ["CSQLite", "Contract", "Cryptography", "Ledger", "Scheduling"]),
    .target(name: "LedgerPostgres", dependencies: ["CLibpq", "Contract", "Cryptography", "Ledger", "Scheduling"]),
    .target(name: "Processing", dependencies: ["Contract", "Ledger", "Scheduling"]),
    .target(
        name: "Kafka", dependencies: ["CLibrdkafka", "Contract", "Logging", "Metrics", "Scheduling", "Threading"]),
    .target(name: "KafkaScanning", dependencies: ["CLibrdkafka", "Contract", "Kafka", "Logging", "Scheduling"]),
    .target(name: "HTTPClient", dependencies: ["CLibcurl", "CLinux", "Logging", "Metrics", "Scheduling", "Threading"]),
    .target(name: "HTTPServer", dependencies: ["CLinux", "Scheduling", "Threading"]),
    .target(name: "CommandParser"),
    .target(
        name: "Configuration",
        dependencies: ["AppStore", "CLibyaml", "CommandParser", "Contract", "Cryptography", "Fulfilment", "Logging"]),
    .target(
        name: "Worker",
        dependencies: [
            "AppStore", "Configuration", "Contract", "Fulfilment", "HTTPClient", "HTTPServer", "Kafka", "Ledger",
            "LedgerPostgres", "LedgerSQLite", "Logging", "Metrics", "Processing", "Scheduling", "Threading",
        ]),
    .target(
        name: "Audit",
        dependencies: [
            "Contract", "Cryptography", "Kafka", "KafkaScanning", "Ledger", "Logging", "Scheduling", "Threading",
        ]),
    .target(
        name: "Commands",
        dependencies: [
            "AppStore", "Audit", "CommandParser", "Configuration", "Contract", "Cryptography", "Fulfilment",
            "HTTPClient", "HTTPServer", "Kafka", "KafkaScanning", "Ledger", "Logging", "Metrics", "Scheduling",
            "Threading", "Worker",
        ]),
    .executableTarget(name: "grantor", dependencies: allocator + ["CommandParser", "Commands"]),
]

/// Programs and models that prove the product; none of them is in the image.
let tools: [Target] = [
    .target(name: "LedgerModel", dependencies: ["Contract", "Ledger"], path: "Tools/LedgerModel"),
    .target(
        name: "LedgerConformance",
        dependencies: ["Contract", "Cryptography", "Ledger", "LedgerModel", "MemberTesting", "Scheduling"],
        path: "Tests/LedgerConformance"),
    .target(
        name: "Simulation",
        dependencies: ["Contract", "Ledger", "LedgerModel", "Processing", "Scheduling"],
        path: "Tools/Simulation"),
    .executableTarget(
        name: "grantor-simulate", dependencies: ["CommandParser", "Processing", "Simulation"],
        path: "Tools/Simulate"),
    .target(
        name: "CertificateMaking", dependencies: ["CLibcrypto", "Cryptography"], path: "Tools/CertificateMaking"),
    .target(
        name: "SimulatorServer", dependencies: ["CLibcrypto", "HTTPServer", "Scheduling", "Threading"],
        path: "Tools/SimulatorServer"),
    .target(
        name: "AppStoreSimulator",
        dependencies: [
            "CertificateMaking", "CommandParser", "Contract", "Cryptography", "HTTPServer", "Logging", "Scheduling",
            "SimulatorServer",
        ],
        path: "Tools/AppStoreSimulator"),
    .target(
        name: "InventoryService",
        dependencies: [
            "CertificateMaking", "Contract", "Cryptography", "Fulfilment", "HTTPServer", "Scheduling",
            "SimulatorServer",
        ],
        path: "Tools/InventoryService"),
    .executableTarget(
        name: "grantor-simulator",
        dependencies: allocator + ["AppStoreSimulator", "CommandParser"], path: "Tools/Simulator"),
    .target(name: "ChildProcesses", path: "Tools/ChildProcesses"),
    .executableTarget(
        name: "grantor-demo",
        dependencies: [
            "AppStoreSimulator", "ChildProcesses", "Contract", "Kafka", "KafkaScanning", "Ledger", "LedgerPostgres",
            "LedgerSQLite",
            "Logging", "Scheduling", "Threading",
        ], path: "Tools/Demo"),
    .target(
        name: "FuzzTargets",
        dependencies: [
            "AppStore", "CertificateMaking", "Configuration", "Contract", "Cryptography", "HTTPServer", "Scheduling",
            "SimulatorServer",
        ],
        path: "Tools/Fuzzing/Targets"),
    .executableTarget(
        name: "grantor-bench",
        dependencies: [
            "AppStoreSimulator", "CLibcurl", "CSQLite", "ChildProcesses", "CommandParser", "Contract", "HTTPServer",
            "Kafka",
            "KafkaScanning", "KafkaTesting",
            "Ledger", "LedgerPostgres", "LedgerSQLite", "Logging", "PostgresTesting", "Scheduling",
            "SocketTesting", "Threading",
        ], path: "Tools/Benchmarks"),
    .executableTarget(
        name: "grantor-chaos",
        dependencies: [
            "AppStoreSimulator", "CLibpq", "CSQLite", "ChildProcesses", "Contract", "InventoryService", "Kafka",
            "KafkaScanning",
            "KafkaTesting", "Logging", "Metrics", "PostgresTesting", "Scheduling", "Threading",
        ], path: "Tools/Chaos"),
    .executableTarget(name: "kafka-mock", dependencies: ["CLibrdkafka"], path: "Tools/KafkaMock"),
]

// libFuzzer comes only with a build for fuzzing (-sanitize=fuzzer).
let fuzzing: [Target] =
    Context.environment["GRANTOR_FUZZING"] == nil
    ? []
    : [
        .target(name: "CFuzzer", path: "Tools/Fuzzing/CFuzzer"),
        .executableTarget(
            name: "grantor-fuzz", dependencies: ["CFuzzer", "FuzzTargets"], path: "Tools/Fuzzing/Driver"),
    ]

/// Parts that several test targets share.
let testing: [Target] = [
    // Starts kafka-mock where there is no Apache Kafka, so it has to be built.
    .target(
        name: "KafkaTesting",
        dependencies: ["CLibrdkafka", "ChildProcesses", "Kafka", "Logging", "SocketTesting", "kafka-mock"],
        path: "Tests/KafkaTesting"),
    .target(name: "FileTesting", path: "Tests/FileTesting"),
    .target(name: "SocketTesting", path: "Tests/SocketTesting"),
    .target(name: "MemberTesting", dependencies: ["Contract", "Cryptography"], path: "Tests/MemberTesting"),
    .target(
        name: "PostgresTesting", dependencies: ["CLibpq", "ChildProcesses", "SocketTesting"],
        path: "Tests/PostgresTesting"),
]

/// One test target per module, with the module and what each needs besides.
func tests(_ module: String, _ dependencies: Target.Dependency...) -> Target {
    .testTarget(name: module + "Tests", dependencies: [.target(name: module)] + dependencies)
}

let suites: [Target] = [
    tests("Threading", "Scheduling"),
    tests("Scheduling"),
    tests("Logging"),
    tests("Metrics"),
    tests("Cryptography", "CLibcrypto", "CertificateMaking"),
    tests("CertificateMaking", "CLibcrypto", "Cryptography"),
    tests("Contract", "Cryptography", "MemberTesting", "Scheduling"),
    tests("AppStore", "CertificateMaking", "Contract", "Cryptography", "Scheduling"),
    tests("Fulfilment", "AppStore", "Contract"),
    tests("Ledger", "Contract", "Cryptography", "MemberTesting"),
    tests(
        "Audit", "CSQLite", "Contract", "Cryptography", "Kafka", "Ledger", "LedgerPostgres", "LedgerSQLite",
        "MemberTesting", "PostgresTesting"),
    tests("LedgerModel", "Contract", "Ledger", "LedgerConformance", "MemberTesting"),
    tests("LedgerSQLite", "CSQLite", "Contract", "Ledger", "LedgerConformance", "LedgerModel"),
    tests(
        "LedgerPostgres", "Contract", "Ledger", "LedgerConformance", "LedgerModel", "PostgresTesting", "Scheduling",
        "SocketTesting"),
    tests("Processing", "Contract", "Ledger", "MemberTesting", "Scheduling"),
    tests("Simulation", "Contract", "Ledger", "Processing", "Scheduling"),
    tests(
        "Kafka", "CLibrdkafka", "Contract", "KafkaScanning", "KafkaTesting", "Logging", "Metrics", "Scheduling",
        "Threading"),
    tests(
        "HTTPClient", "CLibcrypto", "CLibcurl", "CertificateMaking", "Cryptography", "Logging", "Metrics", "Scheduling",
        "SocketTesting", "Threading"),
    tests("HTTPServer", "Scheduling", "SocketTesting"),
    tests(
        "SimulatorServer", "CLibcrypto", "CertificateMaking", "HTTPServer", "Scheduling", "SocketTesting", "Threading"),
    tests("FuzzTargets"),
    tests("CommandParser", "ChildProcesses"),
    tests(
        "Configuration", "AppStore", "CertificateMaking", "CommandParser", "Contract", "FileTesting", "Fulfilment",
        "Logging", "Scheduling"),
    tests(
        "AppStoreSimulator", "AppStore", "CertificateMaking", "CommandParser", "Contract", "Cryptography", "HTTPClient",
        "HTTPServer", "Logging", "Metrics", "Scheduling", "SimulatorServer", "Threading"),
    .testTarget(name: "ChaosTests", dependencies: ["grantor-chaos", "Contract", "Kafka"]),
    .testTarget(name: "DemoTests", dependencies: ["grantor-demo", "Contract", "Kafka"]),
    tests(
        "Worker", "AppStore", "Configuration", "Contract", "Fulfilment", "HTTPClient", "InventoryService", "Kafka",
        "Ledger", "LedgerModel", "Logging", "MemberTesting", "Metrics", "PostgresTesting", "Processing", "Scheduling",
        "Threading"),
    tests(
        "Commands", "AppStore", "Audit", "CLibcrypto", "CertificateMaking", "ChildProcesses", "CommandParser",
        "Configuration", "Contract", "FileTesting", "Fulfilment", "HTTPClient", "HTTPServer", "Kafka", "Ledger",
        "LedgerSQLite",
        "Logging", "MemberTesting", "Scheduling", "SocketTesting", "Threading", "grantor"),
]

// A target enters the build when its folder is there.
let all = (libraries + modules + tools + fuzzing + testing + suites).filter { target in
    let folder = target.type == .test ? "Tests" : "Sources"
    return FileManager.default.fileExists(
        atPath: "\(Context.packageDirectory)/\(target.path ?? "\(folder)/\(target.name)")")
}
for target in all where target.type != .system && target.name != "CJemalloc" {
    target.swiftSettings = settings
}
// One thread runs a simulated world, whose checks at each access would be a tenth of its time.
for target in all where ["LedgerModel", "Simulation"].contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)))
}

let package = Package(name: "grantor", targets: all, swiftLanguageModes: [.v6])
