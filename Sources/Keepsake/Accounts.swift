// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice

extension CloudKeyValueStore {
  /// Goes on with another device: the one of the account that the user has switched to. What was
  /// set for one account is never mixed with what is set for another.
  ///
  /// From now on properties and names read and write there, and observers get changes made there;
  /// first they get the differences between the two, with the reason `account`. What they have not
  /// received of the device before is part of these. An observer that is being called meanwhile
  /// gets them when it has returned.
  /// Each account's file stays as it is; merge each with the same account's on other devices.
  ///
  /// Transactions of this store that are under way end first. One of the other device must not use
  /// this store meanwhile.
  ///
  /// - Throws: `KeepsakeError` when either device cannot be read, and within a transaction of this
  ///   thread, of whichever device; then nothing has changed.
  public func switchAccount(to device: Device) throws(KeepsakeError) {
    try backing.move(to: device)
  }
}
