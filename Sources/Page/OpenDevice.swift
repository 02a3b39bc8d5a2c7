// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakeCommandLine
  import KeepsakeDevice
  import KeepsakeSync
  import KeepsakeValues

  /// One of the files that the page shows.
  struct OpenDevice: Sendable {
    /// The maximum number of changes in an event; pages read the others.
    private static let most = 20

    let path: String
    let device: Device
    let index = LiveIndex()
    private let observations: [ObservationToken]

    init(_ path: String, _ device: Device, number: Int, _ streams: EventStreams) {
      (self.path, self.device) = (path, device)
      let place = JSON.Member("device", .integer(Int64(number)))
      let fail: @Sendable (KeepsakeError) -> Void = { error in
        streams.send([place, JSON.Member("problem", PageProblem(error).json)])
      }
      let changed = device.observe { [index] changes in
        index.invalidate()
        streams.send([
          place, JSON.Member("changes", .array(changes.prefix(Self.most).map(Preview.change))),
          JSON.Member("count", .integer(Int64(changes.count))),
        ])
      } onFailure: {
        fail($0)
      }
      // A merge may change what a device knows of its peers, and no value.
      let committed = device.observeCommits {
        streams.send([place])
      } onFailure: { _ in
        // The other observer reports it.
      }
      observations = [changed, committed]
    }
  }
#endif
