// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Testing

/// The memory that a process may ask for.
public enum AddressSpace {
  /// Skips what limits or measures the memory of processes, where a sanitizer keeps a shadow of
  /// all of it: `Scripts/test --sanitize` sets the variable.
  public static let isPlain: ConditionTrait = .enabled(
    if: ProcessInfo.processInfo.environment["KEEPSAKE_SANITIZER"] == nil,
    "a sanitizer takes terabytes of address space")
}
