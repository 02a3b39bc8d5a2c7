// SPDX-License-Identifier: Apache-2.0
//
// What the compiler says of code that cannot be: one call for all of it.

import Foundation
import Keepsake
import TestSupport
import Testing

@Suite struct DiagnosticsTests {
  private static let start = """
    import Keepsake
    enum Theme: String, Sendable { case light, dark }
    func use(_ settings: UserDefaultsStore) {
    """

  private static let cannotHold =
    "a store cannot hold this type: conform it to BackingStoreConvertible, or say how it is"
    + " stored, as in "

  /// A line of code, and what is said of it; nil for nothing.
  private static let lines: [(code: String, message: String?)] = [
    ("settings.register(defaults: [\"a\": 1, \"b\": \"x\"])", nil),
    ("settings.set(nil, forKey: \"k\"); settings.set([1, \"a\"], forKey: \"k\")", nil),
    ("_ = settings.object(forKey: \"k\") as? String", "always fails"),
    ("let names: [String]? = settings.array(forKey: \"k\"); _ = names", nil),
    ("_ = settings.array(forKey: \"k\")?.first; _ = settings.array(forKey: \"k\") ?? []", nil),
    ("_ = settings.dictionary(forKey: \"k\") ?? [String: Int]()", nil),
    ("_ = SettingKey<Int?>(\"volume\")", nil),
    ("}; final class A: DeviceSettings, @unchecked Sendable {", nil),
    ("@Setting var theme = Theme.light", cannotHold + "@Setting(by: .rawValue)"),
    ("@Setting(\"k\") var keyed = Theme.light", cannotHold + "@Setting(by: .rawValue)"),
    ("@Setting(by: .rawValue) var by = Theme.light", nil),
    ("@Setting var volume: Int", "a setting needs a default, as in @Setting var volume = 5"),
    ("@Setting var maybe: Theme?", "unless its type is an optional of one that is Backing"),
    ("@Setting var nick: String?; @Setting(by: .rawValue) var other: Theme?", nil),
    ("@Setting(default: { 1 }) var number: Int; @Setting(\"x\") var x: Int?", nil),
    ("}", nil),
  ]

  @Test(.enabled(if: (try? Command.find("swiftc")) != nil, "swiftc is of the toolchain"))
  func theCompilerSaysWhatToWriteInstead() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/wrong.swift"
    let text = ([Self.start] + Self.lines.map(\.code)).joined(separator: "\n")
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let ending = try Command.run(Command.find("swiftc"), Self.options() + [file])
    let first = Self.start.split(separator: "\n").count + 1
    var said: [Int: [Substring]] = [:]
    for line in ending.stderr.split(separator: "\n") {
      guard let found = line.wholeMatch(of: /.*wrong\.swift:(\d+):\d+: (?:error|warning): (.*)/)
      else { continue }
      said[Int(found.1) ?? 0, default: []].append(found.2)
    }
    for (number, line) in Self.lines.enumerated() {
      let messages = said[first + number] ?? []
      if let message = line.message {
        #expect(messages.count == 1 && messages[0].contains(message), "\(line.code): \(messages)")
      } else {
        #expect(messages == [], "\(line.code)")
      }
    }
    #expect(said.count == Self.lines.count { $0.message != nil }, "\(ending)")
    withExtendedLifetime(folder) {}
  }

  /// Where the build has put the modules.
  private static func options() throws -> [String] {
    let products = URL(fileURLWithPath: try Command.kvsync.get()).deletingLastPathComponent()
      .resolvingSymlinksInPath()
    let maps = try FileManager.default.contentsOfDirectory(atPath: products.path)
      .map { "\(products.path)/\($0)/module.modulemap" }
      .filter { FileManager.default.fileExists(atPath: $0) }
    return [
      "-typecheck", "-swift-version", "6", "-diagnostic-style=llvm",
      "-I", products.path + "/Modules", "-I", Checkout.path("Sources/CSQLite"),
    ] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
  }
}
