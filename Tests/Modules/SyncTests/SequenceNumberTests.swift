// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import Testing

@Suite struct SequenceNumberTests {
  /// A removal in a store that is not synced takes the newest row away, and with it what that
  /// row says of the last number.
  @Test func noNumberIsGivenTwiceWhateverElseTheTransactionDoes() throws {
    let (sender, reader) = (try Device.temporary(), try Device.temporary())
    try sender.write([LocalWrite(store: "cloud", key: "k", value: 1)])
    try sender.write([LocalWrite(store: "defaults", key: "newest", value: 1)])
    var options = MergeOptions()
    options.isOneWay = true
    try sender.merge(with: reader, options: options)
    let before = try sender.tables.access { try ReplicaState($0).sequenceNumber }
    try sender.transaction {
      try sender.write([LocalWrite(store: "defaults", key: "newest", value: nil)])
      let seeds = [DefaultValue(key: "d", value: 1, source: "Root.plist:1")]
      try sender.seed(store: "defaults", bundle: "b", seeds)
    }
    try sender.write([LocalWrite(store: "cloud", key: "k", value: 2)])
    let after = try sender.tables.access { try ReplicaState($0).sequenceNumber }
    #expect(after > before)
    let report = try sender.merge(with: reader, options: options)
    #expect(report.hasConverged)
    #expect(try reader.entry(store: "cloud", key: "k")?.content.value == 2)
  }
}
