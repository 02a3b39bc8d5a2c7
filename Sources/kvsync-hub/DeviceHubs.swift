// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeHub
import KeepsakeValues

/// Finds the hubs, accounts and tokens of a device, and stores its tokens.
enum DeviceHubs {
  private static let environment = ProcessInfo.processInfo.environment
  static let variable = "KEEPSAKE_HUB_TOKEN"
  private static var givenToken: String? {
    environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }

  static var credentials: HubCredentials {
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return HubCredentials(environment: environment, home: home ?? NSHomeDirectory())
  }

  /// The path that identifies a device in the file of tokens.
  static func realPath(_ file: String) throws(KeepsakeError) -> String {
    guard let path = realpath(file, nil) else { throw failure(errno, path: file) }
    defer { free(path) }
    return String(cString: path)
  }

  /// The entries of a device, of all hubs or of one. Prints the problems of the other lines.
  static func entries(
    of file: String, at url: HubURL? = nil
  ) throws(KeepsakeError) -> [HubCredentials.Entry] {
    let path = try realPath(file)
    let (entries, problems) = try credentials.read()
    for problem in problems { Output.note(problem, .warning) }
    return entries.filter {
      $0.device.isSameBytes(as: path) && (url == nil || $0.hub == url?.description)
    }
  }

  /// The hub of a device: the one at an address, or the only one that it knows.
  static func hub(of file: String, at address: String?) throws -> Hub {
    let url = try address.map { text throws(KeepsakeError) in try HubURL(text) }
    if let token = givenToken {
      guard let url else {
        throw InputError.usage("\(file): \(variable) is of no hub; name its address")
      }
      return Hub(url, try membership(token, of: file))
    }
    let entry = try entry(of: file, at: url)
    guard entry.membership.device != nil else {
      throw KeepsakeError(
        .unauthorized, path: file, "joining \(entry.hub) has not come to its end",
        cure: "run kvsync hub join or kvsync hub create again")
    }
    return Hub(try HubURL(entry.hub), entry.membership)
  }

  /// - Parameter token: `ACCOUNT.TOKEN`.
  private static func membership(
    _ token: String, of file: String
  ) throws(KeepsakeError) -> HubMembership {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if parts.count == 2, let account = JSON.string(parts[0]).hexadecimal {
      do throws(KeepsakeError) {
        return try HubMembership(account: account, token: parts[1])
      } catch {
        // The error below has a better cure.
      }
    }
    throw KeepsakeError(
      .unauthorized, path: variable, "it is no account and token",
      cure: "write it as ACCOUNT.TOKEN; or unset it to use the account that \(file) has joined"
    )
  }

  private static func entry(of file: String, at url: HubURL?) throws -> HubCredentials.Entry {
    let entries = try entries(of: file, at: url)
    guard let entry = entries.first else {
      throw KeepsakeError(
        .unauthorized, path: file,
        url.map { "this device has joined no account at \($0)" } ?? "this device knows no hub",
        cure: "join one: kvsync hub join \(url?.description ?? "URL") \(file)")
    }
    guard entries.count == 1 else {
      let hubs = entries.map(\.hub).sorted().joined(separator: ", ")
      throw InputError.usage("\(file): this device knows several hubs; name one: \(hubs)")
    }
    return entry
  }

  static func removeEntries(
    of file: String, where isObsolete: (HubCredentials.Entry) -> Bool
  ) throws(KeepsakeError) {
    for entry in try entries(of: file) where isObsolete(entry) { try credentials.remove(entry) }
  }

  static func store(
    _ membership: HubMembership, at url: HubURL, for file: String
  ) throws {
    try credentials.add(
      HubCredentials.Entry(
        hub: url.description, device: realPath(file), membership: membership))
  }

  /// Reads a secret or a code: from a file, from the environment, or from standard input.
  static func readSecret(
    _ what: String, file: String? = nil, variable: String? = nil
  ) throws -> String {
    if let file { return try line(of: file) }
    if let variable, let secret = environment[variable] { return secret }
    if isatty(STDIN_FILENO) == 1 { Output.note("\(what):") }
    guard let line = readLine() else {
      throw InputError.usage("(standard input): it is empty; give it \(what)")
    }
    return line.trimmingCharacters(in: .whitespaces)
  }

  private static func line(of file: String) throws -> String {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno, path: file) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let data: Data
    do {
      data = try handle.read(upToCount: 4096) ?? Data()
    } catch {
      throw KeepsakeError(
        .inputOutput, path: file, "it cannot be read", cure: "name the file that has the secret")
    }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func failure(_ code: Int32, path: String) -> KeepsakeError {
    code == ENOENT ? .missing(path) : KeepsakeError(system: code, path: path)
  }

  /// The default name of a device.
  static func defaultName(of file: String) -> String {
    let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
    let shown = name.unicodeScalars.filter { $0.properties.generalCategory != .control }.prefix(50)
    return shown.isEmpty ? "device" : String(String.UnicodeScalarView(shown))
  }
}
