// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prints a line at once, because the process may be killed.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}
