// SPDX-License-Identifier: Apache-2.0
//
// What standard output and standard error lead to, and how wide text is there.

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

  /// Columns of standard error, as they are now; 80 if it does not say.
  package static var columns: Int {
    var size = winsize()
    let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return isKnown ? Int(size.ws_col) : 80
  }
}

/// What the parts of a text are, by their colour.
package enum Style: String {
  case plain = "\u{1B}[0m"
  case key = "\u{1B}[36m"
  case old = "\u{1B}[31m"
  case new = "\u{1B}[32m"
  case warning = "\u{1B}[33m"
  case failure = "\u{1B}[1;31m"
}

extension String {
  /// As much of it as fits, with an ellipsis for what does not.
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
  /// How many columns a terminal takes at most for it.
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
