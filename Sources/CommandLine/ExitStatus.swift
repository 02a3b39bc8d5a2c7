// SPDX-License-Identifier: Apache-2.0
//
// Ends a command with a code of sysexits.h, and each failure with one line on stderr:
// `kvsync: <path>[:line:column]: what is wrong; what to do`.

package import ArgumentParser
import Foundation
import KeepsakeDevice
package import KeepsakeFormats
import KeepsakeSettingsBundle
import KeepsakeValues

package enum ExitStatus {
  /// - Parameter root: the command that parses the command line.
  package static func exit(with error: any Error, of root: any ParsableCommand.Type) -> Never {
    // Output to a file does not erase the progress line.
    ProgressLine.end()
    let (code, line): (Int32, String?)
    switch error {
    case let error as KeepsakeError: (code, line) = (Self.code(error.code), "\(error)")
    case let error as PropertyListError: (code, line) = (Self.code(error.code), "\(error)")
    case let error as InputError: (code, line) = (Self.code(error.kind), error.message)
    case let error as NegativeAnswer: (code, line) = (1, error.message)
    case let error as ValueError: (code, line) = (EX_DATAERR, "(a value): \(error)")
    default:
      // All other errors are ArgumentParser's: help, the version, or a wrong command line. For an
      // error that it does not know its code is 1, which means "no" here.
      let parsed = root.exitCode(for: error)
      if parsed.isSuccess {
        // ArgumentParser would not notice that its help cannot be written.
        Output.standardOutput(root.fullMessage(for: error) + "\n")
        Foundation.exit(parsed.rawValue)
      }
      let isUnknown = parsed == .failure
      code = isUnknown ? EX_SOFTWARE : parsed.rawValue
      line = isUnknown ? unknown(error) : usageLine(error, root)
    }
    if let line { Output.note(line, .failure) }
    Foundation.exit(code)
  }

  private static func unknown(_ error: any Error) -> String {
    "(unexpected): \(error); this is a defect of kvsync, please report it"
  }

  /// An error of ArgumentParser in the form of all others: where, what, what to do.
  private static func usageLine(
    _ error: any Error, _ root: any ParsableCommand.Type
  ) -> String {
    let message = root.message(for: error).split(separator: "\n")
      .map { $0.drop { $0 == " " } }.map { $0.hasPrefix("- ") ? $0.dropFirst(2) : $0 }
      .joined(separator: " ")
    let words = Array(CommandLine.arguments.dropFirst())
    let (command, rest) = Self.command(of: words, root)
    // Only the first word can be the file: a later one may be the value of an option.
    let file = rest.first.flatMap { $0.hasPrefix("-") || $0.isEmpty ? nil : $0 }
    let place = command == nil ? "(command line)" : file ?? "(command line)"
    // ArgumentParser reads the -5 of `set DB KEY -5` as an unknown option, or misses the value. No
    // option of ours has one dash.
    let mayBeValue = zip(words, words.dropFirst().prefix { $0 != "--" }).first {
      $1.hasPrefix("-") && !$1.hasPrefix("--") && $1 != "-" && $1 != "-h"
    }
    let cure =
      command.map { name in
        mayBeValue.map { InputError.dashCure(after: $0.0) } ?? "see kvsync help \(name)"
      } ?? "see kvsync help"
    return "\(place): \(message.prefix(1).lowercased())\(message.dropFirst()); \(cure)"
  }

  /// The command that the first words name, with its group, and the words after it.
  private static func command(
    of words: [String], _ root: any ParsableCommand.Type
  ) -> (name: String?, rest: ArraySlice<String>) {
    var commands = root.configuration.subcommands
    var (names, rest): ([String], ArraySlice<String>) = ([], words[...])
    while let word = rest.first,
      let found = commands.first(where: { $0.configuration.commandName == word })
    {
      (commands, rest) = (found.configuration.subcommands, rest.dropFirst())
      names.append(word)
    }
    // No file follows a group.
    return (
      names.isEmpty ? nil : names.joined(separator: " "), commands.isEmpty ? rest : []
    )
  }

  private static func code(_ code: KeepsakeError.Code) -> Int32 {
    switch code {
    case .sameFile, .invalidKey, .invalidValue, .managed: EX_USAGE
    case .notKeepsake, .corrupt, .foreignLog, .newerSchema, .tooLarge: EX_DATAERR
    case .missing: EX_NOINPUT
    case .cannotCreate: EX_CANTCREAT
    case .inputOutput, .diskFull: EX_IOERR
    case .locked, .unavailable, .full: EX_TEMPFAIL
    case .permissionDenied, .readOnly, .unauthorized: EX_NOPERM
    case .unreachable, .incompatible: EX_UNAVAILABLE
    case .malformed: EX_SOFTWARE
    }
  }

  private static func code(_ code: PropertyListError.Code) -> Int32 {
    switch code {
    case .missing: EX_NOINPUT
    case .permissionDenied: EX_NOPERM
    case .unreadable: EX_IOERR
    default: EX_DATAERR
    }
  }

  private static func code(_ kind: InputError.Kind) -> Int32 {
    switch kind {
    case .usage: EX_USAGE
    case .data: EX_DATAERR
    case .missing: EX_NOINPUT
    case .unreadable: EX_NOPERM
    case .broken: EX_IOERR
    }
  }
}

/// Ends a command that has not failed: the answer is "no".
package struct NegativeAnswer: Error {
  /// For stderr; nil if stdout has the answer.
  package let message: String?

  package init(message: String?) { self.message = message }
}

extension InputError {
  /// How to pass a word that starts with a dash and is no option.
  ///
  /// - Parameter word: the word before. If it is an option, `--` would leave it without a value.
  package static func dashCure(after word: String) -> String {
    let mayBeOption = word.hasPrefix("--") && !word.contains("=")
    return "a value that starts with - follows --" + (mayBeOption ? ", or the = of its option" : "")
  }

  package static func usage(_ message: String) -> InputError {
    InputError(kind: .usage, message: message)
  }
}
