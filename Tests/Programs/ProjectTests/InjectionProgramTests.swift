// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A program that uses the container and nothing else of the package.
@Suite struct InjectionProgramTests {
  private static func program(_ name: String) throws -> String {
    try Command.built(name).get()
  }

  private static func linkedLibraries(_ name: String) throws -> [Substring] {
    #if os(macOS)
      let ending = try Command.run(Command.find("otool"), ["-L", program(name)])
    #else
      let ending = try Command.run(Command.find("ldd"), [program(name)])
    #endif
    #expect(ending.code == 0, "\(ending)")
    return ending.stdout.split(separator: "\n")
  }

  @Test func theContainerIsNotLinkedWithFoundation() throws {
    let libraries = try Self.linkedLibraries("two-screens")
    #expect(libraries.contains { $0.contains("libswiftCore") })
    #expect(!libraries.contains { $0.contains("Foundation") }, "\(libraries)")
    // The same look at a program that is linked with it finds it.
    #expect(try Self.linkedLibraries("kvsync").contains { $0.contains("Foundation") })
  }

  @Test func twoScreensHandOverWhatTheSecondNeeds() throws {
    let ending = try Command.run(Self.program("two-screens"), [])
    #expect(
      ending.stdout == """
        Detail: Hello, Ada!
        Detail: Hello, Grace!
        Mistaken: properties of the same name have another type. \
        Candidates: segueUser: Optional<User> to String. \
        Give both properties one type, or rename one of them.

        """)
    #expect(ending.code == 0)
  }
}
