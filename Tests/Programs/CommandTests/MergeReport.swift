// SPDX-License-Identifier: Apache-2.0

/// The output of `merge --json`, built field by field.
struct MergeReport {
  private var converged = true
  private var devices: [String] = []
  private var transfers: [String] = []
  private var changes: [String] = []
  private var isTruncated = false
  private var events: [String] = []

  init(_ devices: [(path: String, replica: String)], converged: Bool = true) {
    self.converged = converged
    self.devices = devices.map { #"{"path":"\#($0.path)","replica":"\#($0.replica)"}"# }
  }

  mutating func transfer(
    _ from: String, _ into: String, received: Int = 0, changed: Int = 0, waiting: Int = 0,
    conflicts: Int = 0
  ) {
    let counts = #""received":\#(received),"changed":\#(changed),"waiting":\#(waiting)"#
    transfers.append(
      #"{"from":"\#(from)","into":"\#(into)",\#(counts),"conflicts":\#(conflicts)}"#)
  }

  /// - Parameters:
  ///   - old, new: `{"type","value"}` of a string, as JSON text; nil: null.
  mutating func change(
    _ into: String, _ store: String, _ key: String, old: String?, new: String?, origin: String
  ) {
    func side(_ text: String?) -> String {
      text.map { #"{"type":"string","value":"\#($0)"}"# } ?? "null"
    }
    changes.append(
      #"{"into":"\#(into)","store":"\#(store)","key":"\#(key)","old":\#(side(old)),"#
        + #""new":\#(side(new)),"origin":"\#(origin)"}"#)
  }

  mutating func truncated() { isTruncated = true }

  mutating func copy(_ path: String) {
    events.append(#"{"kind":"newReplicaID","path":"\#(path)","reason":"copy"}"#)
  }

  var line: String {
    #"{"converged":\#(converged),"devices":[\#(devices.joined(separator: ","))],"#
      + #""transfers":[\#(transfers.joined(separator: ","))],"#
      + #""changes":[\#(changes.joined(separator: ","))],"#
      + (isTruncated ? #""truncated":true,"# : "")
      + #""events":[\#(events.joined(separator: ","))]}"# + "\n"
  }
}
