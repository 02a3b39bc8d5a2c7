// SPDX-License-Identifier: Apache-2.0
//
// Parses plain `get` and `set` commands without ArgumentParser: its start takes longer than reading
// or writing a key. ArgumentParser gets all other command lines, and wrong ones, so help and errors
// are its own.

import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeValues

/// The words after a command's name: arguments, flags and options, each at most once and none
/// empty.
struct FastArguments {
  private(set) var arguments: [String] = []
  private var flags: [String] = []
  private var options: [(name: String, value: String)] = []

  /// - Returns: nil if another word begins with a dash.
  fileprivate init?(_ words: ArraySlice<String>, flags: [String], options: [String]) {
    var rest = words.makeIterator()
    while let word = rest.next() {
      if word.isEmpty { return nil }
      if !word.utf8.starts(with: "-".utf8) {
        arguments.append(word)
      } else if flags.contains(word), !self.flags.contains(word) {
        self.flags.append(word)
      } else if options.contains(word), option(word) == nil, let value = rest.next(),
        !value.isEmpty, !value.utf8.starts(with: "-".utf8)
      {
        self.options.append((word, value))
      } else {
        return nil
      }
    }
  }

  fileprivate func has(_ flag: String) -> Bool { flags.contains(flag) }
  fileprivate func option(_ name: String) -> String? { options.first { $0.name == name }?.value }

  /// The command, if it accepts all words.
  static func command(_ words: ArraySlice<String>) -> (any Subcommand)? {
    let rest = words.dropFirst()
    switch words.first {
    case "get":
      return FastArguments(rest, flags: ["--stored", "--json", "--quiet"], options: ["--store"])
        .flatMap(GetCommand.init)
    case "set":
      return FastArguments(rest, flags: ["--json", "--quiet"], options: ["--store", "--type"])
        .flatMap(SetCommand.init)
    default: return nil
    }
  }
}

extension GetCommand {
  fileprivate init?(_ words: FastArguments) {
    guard words.arguments.count == 2 else { return nil }
    self.init()
    stored = words.has("--stored")
    (setting, common) = (SettingArguments(words), CommonOptions(words))
  }
}

extension SetCommand {
  fileprivate init?(_ words: FastArguments) {
    guard words.arguments.count == 3,
      let type = ArgumentValue.ValueType(rawValue: words.option("--type") ?? "string")
    else { return nil }
    self.init()
    (value, self.type) = (words.arguments[2], type)
    (setting, common) = (SettingArguments(words), CommonOptions(words))
  }
}

extension SettingArguments {
  fileprivate init(_ words: FastArguments) {
    self.init()
    (file, key) = (words.arguments[0], words.arguments[1])
    store = words.option("--store") ?? StoreName.cloud
  }
}

extension CommonOptions {
  fileprivate init(_ words: FastArguments) {
    self.init()
    (json, quiet) = (words.has("--json"), words.has("--quiet"))
    (time, busyTimeout) = (nil, Device.defaultBusyTimeout)
  }
}
