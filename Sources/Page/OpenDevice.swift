// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakeCommandLine
  import KeepsakeDevice
  import KeepsakeSync
  import KeepsakeValues

  /// One of the files that the page shows.
  struct OpenDevice: Sendable {
    /// Changes of one commit that pages hear of; they read the others.
    private static let most = 20

    let path: String
    let device: Device
    let index = LiveIndex()
    private let observations: [ObservationToken]

    init(_ path: String, _ device: Device, number: Int, _ listeners: Listeners) {
      (self.path, self.device) = (path, device)
      let place = JSON.Member("device", .integer(Int64(number)))
      let fail: @Sendable (KeepsakeError) -> Void = { error in
        listeners.tell([place, JSON.Member("problem", Problem(error).json)])
      }
      let changed = device.observe { [index] changes in
        index.invalidate()
        listeners.tell([
          place, JSON.Member("changes", .array(changes.prefix(Self.most).map(Preview.change))),
          JSON.Member("count", .integer(Int64(changes.count))),
        ])
      } onFailure: {
        fail($0)
      }
      // A merge may change what a device knows of others, and no value.
      let committed = device.observeCommits {
        listeners.tell([place])
      } onFailure: { _ in
        // The other observer tells it.
      }
      observations = [changed, committed]
    }
  }
#endif
