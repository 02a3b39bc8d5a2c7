// SPDX-License-Identifier: Apache-2.0
//
// Stores the tokens of this user's devices as JSON Lines, replaced atomically under a lock. The
// file is not in a device's folder: people copy devices. A line that cannot be read stays as it is.

import Foundation
package import KeepsakeDevice
package import KeepsakeHub
import KeepsakeValues

package struct HubCredentials: Sendable {
  package struct Entry: Sendable, Equatable {
    package let hub: String
    /// The real path of the device's file.
    package let device: String
    package let membership: HubMembership

    package init(hub: String, device: String, membership: HubMembership) {
      (self.hub, self.device, self.membership) = (hub, device, membership)
    }

    /// Whether both are of the same hub and the same file; names of files are compared as bytes.
    fileprivate func isOfSameHubAndDevice(as other: Entry) -> Bool {
      hub == other.hub && device.isSameBytes(as: other.device)
    }

    fileprivate var line: String {
      JSON.object([
        "hub": .string(hub), "device": .string(device),
        "account": .string(HexNumber.text(membership.account)),
        "number": membership.device.map(JSON.integer), "token": .string(membership.token),
      ]).text()
    }
  }

  package let path: String

  /// The credentials of the current user.
  package init(environment: [String: String], home: String) {
    let base = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    path = "\(base ?? home + "/.config")/keepsake/hubs"
  }

  // MARK: - Reading

  /// - Returns: the entries that can be read, and the problems of the other lines.
  package func read() throws(KeepsakeError) -> (entries: [Entry], problems: [String]) {
    var (entries, problems): ([Entry], [String]) = ([], [])
    for (place, line) in try lines().enumerated() {
      do {
        entries.append(try Self.entry(line))
      } catch {
        problems.append("\(path):\(place + 1): \(error); it is left as it is")
      }
    }
    return (entries, problems)
  }

  private static func entry(_ line: String) throws(ValueError) -> Entry {
    guard case .success(let json) = Result(catching: { try JSON(parsing: line) }),
      case .string(let hub)? = json["hub"],
      case .string(let device)? = json["device"], let account = json["account"]?.hexadecimal,
      case .string(let token)? = json["token"], Secrets.isSecret(token)
    else { throw ValueError(.invalid, "the line has no hub, device, account or token") }
    var number: Int64?
    if case .integer(let found)? = json["number"] { number = found }
    return Entry(
      hub: hub, device: device,
      membership: HubMembership(account: account, token: token, device: number))
  }

  private func lines() throws(KeepsakeError) -> [String] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return [] }
      throw KeepsakeError(system: errno, path: path)
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw KeepsakeError(system: errno, path: path) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() || geteuid() == 0,
      status.st_mode & 0o077 == 0
    else {
      throw KeepsakeError(
        .permissionDenied, path: path, "others may read these tokens, or have written them",
        cure: "chmod 600 it, and revoke the tokens if others have read them")
    }
    let data: Data
    do {
      data = try file.readToEnd() ?? Data()
    } catch {
      throw KeepsakeError(error, path: path)
    }
    guard let text = String(bytes: data, encoding: .utf8) else {
      throw KeepsakeError(
        .invalidValue, path: path, "it is not UTF-8", cure: "mend it, or move it away")
    }
    return text.split(separator: "\n").map(String.init)
  }

  // MARK: - Writing

  /// Adds an entry; it replaces one of the same hub and device.
  package func add(_ entry: Entry) throws(KeepsakeError) {
    try change(adding: [entry.line]) { $0.isOfSameHubAndDevice(as: entry) }
  }

  package func remove(_ entry: Entry) throws(KeepsakeError) {
    try change(adding: []) { $0.isOfSameHubAndDevice(as: entry) }
  }

  private func change(
    adding new: [String], removing isObsolete: (Entry) -> Bool
  ) throws(KeepsakeError) {
    let folder = (path as NSString).deletingLastPathComponent
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw KeepsakeError(
        .cannotCreate, path: folder, "the folder of the tokens cannot be made",
        cure: "check the folder above it", cause: error)
    }
    // Two programs at once must not lose each other's lines.
    let lock = open("\(path).lock", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw KeepsakeError(system: errno, path: "\(path).lock") }
    defer { close(lock) }
    while flock(lock, LOCK_EX) != 0 {
      guard errno == EINTR else { throw KeepsakeError(system: errno, path: "\(path).lock") }
    }
    let kept = try lines().filter { line in
      do {
        return !isObsolete(try Self.entry(line))
      } catch {
        return true
      }
    }
    try replace((kept + new).map { $0 + "\n" }.joined())
  }

  private func replace(_ text: String) throws(KeepsakeError) {
    let draft = "\(path).new"
    unlink(draft)
    let descriptor = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw KeepsakeError(system: errno, path: draft) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try file.write(contentsOf: Data(text.utf8))
      try file.synchronize()
    } catch {
      unlink(draft)
      throw KeepsakeError(error, path: path)
    }
    guard rename(draft, path) == 0 else { throw KeepsakeError(system: errno, path: path) }
  }
}
