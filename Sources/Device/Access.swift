// SPDX-License-Identifier: Apache-2.0

extension Device {
  /// What a device is opened for.
  public enum Access: Sendable, Hashable {
    /// Reading and writing; a missing file is made.
    case create
    /// Reading and writing; a missing file is an error.
    case existing
    /// Reading only: the file and its folder may be read-only too.
    case readOnly
  }
}
