// SPDX-License-Identifier: Apache-2.0
//
// Properties of standard output and standard error: whether they are terminals, colours, width.

import Foundation

package enum Terminal {
  package static let showsOutput = isatty(STDOUT_FILENO) == 1
  private static let showsErrors = isatty(STDERR_FILENO) == 1
  private static let environment = ProcessInfo.processInfo.environment
  /// Whether it can erase a line and show colours.
  private static let isCapable = environment["TERM"] != "dumb"
  /// https://no-color.org: set and not empty means no colours.
  private static let wantsColors = isCapable && environment["NO_COLOR", default: ""].isEmpty

  static let hasColors = showsOutput && wantsColors
  static let hasErrorColors = showsErrors && wantsColors
  package static let hasProgress = showsErrors && isCapable

  /// The current width of standard error in columns; 80 if it is unknown.
  package static var columns: Int {
    var size = winsize()
    let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return isKnown ? Int(size.ws_col) : 80
  }
}

/// The role of a part of a text, and its colour.
package enum Style: String {
  case plain = "\u{1B}[0m"
  case key = "\u{1B}[36m"
  case old = "\u{1B}[31m"
  case new = "\u{1B}[32m"
  case warning = "\u{1B}[33m"
  case failure = "\u{1B}[1;31m"
}

extension String {
  /// The text, cut with an ellipsis if it does not fit.
  func fitted(to columns: Int) -> String {
    guard unicodeScalars.reduce(0, { $0 + $1.columns }) > columns else { return self }
    var (left, fitting) = (columns - 1, String.UnicodeScalarView())
    for scalar in unicodeScalars {
      left -= scalar.columns
      if left < 0 { break }
      fitting.append(scalar)
    }
    return columns > 0 ? String(fitting) + "…" : ""
  }
}

extension Unicode.Scalar {
  /// The maximum number of columns that it has on a terminal.
  fileprivate var columns: Int { isASCII ? 1 : 2 }
}

extension Int {
  /// With a comma between thousands.
  var grouped: String {
    var digits = Array(String(magnitude))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
    return (self < 0 ? "-" : "") + String(digits)
  }
}
