// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import TestSupport
  import Testing

  /// A hub, or a merge with one, that ends by -9 in the middle: the next merge goes on.
  @Suite struct HubKillTests {
    private let hub: ServedHub
    private let between: Interposer
    private var folder: Folder { hub.folder }
    private var url: String { between.address }
    /// Three pages are read, and three are pushed.
    private let pass = #"{"for":"","pass":true}"#

    /// More than two pages of each, and one that both have written.
    init() throws {
      hub = try ServedHub()
      between = try Interposer(hub)
      try hub.create("phone", at: url)
      try hub.join("laptop", by: "phone", at: url)
      for device in ["phone", "laptop"] {
        try folder.must("set", device, "theme", device)
        try hub.fill(device, device, count: 2500)
      }
      try folder.must("merge", "phone", url)
    }

    /// Both devices end with all that both have written, and one conflict is known.
    private func expectNothingIsLost() throws {
      for device in ["laptop", "phone"] { try folder.must("merge", device, url) }
      #expect(try folder.stores("phone") == folder.stores("laptop"))
      for device in ["phone", "laptop"] {
        #expect(
          try folder.shell("sqlite3", device, "SELECT count(*) FROM entry") == "5003\n")
        try folder.expect("get", device, "theme", prints: "laptop\n")
      }
      #expect(try folder.shell("sqlite3", "phone", "SELECT count(*) FROM conflict") == "0\n")
      #expect(try folder.shell("sqlite3", "laptop", "SELECT count(*) FROM conflict") == "1\n")
    }

    /// At which request of the merge, and when within it: 0 before its body, 1 after it, nil after
    /// its answer was made.
    static let moments: [(requests: Int, share: Double?)] = [
      (0, nil), (2, nil), (4, 0.5), (5, nil),
    ]

    @Test(arguments: moments)
    func aKilledHubLosesNothing(requests: Int, share: Double?) throws {
      let moment = share.map { #","at":\#($0)"# } ?? ""
      let kill = #"{"for":"","kill":\#(hub.id)\#(moment)}"#
      try between.next(Array(repeating: pass, count: requests) + [kill])
      let ending = try folder.run(["merge", "laptop", url])
      #expect(ending.code == 69, "\(ending)")
      let said = ending.stdout
      #expect(said == "" || said.hasSuffix("\nThe files still differ.\n"), "\(ending)")
      #expect(try between.isDone())
      try hub.serveAgain()
      try expectNothingIsLost()
    }

    @Test(arguments: [(1, "answer"), (2, "request"), (3, "answer"), (5, "request")])
    func aKilledMergeLosesNothing(requests: Int, what: String) throws {
      let hold = #"{"for":"","hold":"\#(what)"}"#
      try between.next(Array(repeating: pass, count: requests) + [hold])
      let merge = try RunningCommand(folder, ["merge", "laptop", url])
      between.waitUntilHeld()
      #expect(merge.end(SIGKILL) == Ending(code: 128 + SIGKILL))
      try expectNothingIsLost()
    }
  }
#endif
