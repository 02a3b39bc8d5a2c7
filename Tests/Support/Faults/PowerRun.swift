// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeTesting

/// A workload, and what power cuts leave of it.
package struct PowerRun {
  package let seed: UInt64
  /// What was recorded.
  package var events: Int { recording.events.count }
  private let workload: PowerWorkload
  private let recording: Recording
  private let folder: TemporaryFolder

  /// Runs and records the workload.
  package init(seed: UInt64) throws {
    self.seed = seed
    folder = try TemporaryFolder()
    workload = try PowerWorkload(seed: seed, in: folder.path + "/live")
    try workload.run()
    recording = workload.recorder.recording
    try checkRecording()
  }

  /// - Parameter number: which cut; the same one leaves the same.
  /// - Throws: `Complaint`.
  package func cut(_ number: Int) throws {
    var cut = PowerCut(number, of: workload, recording, seed: seed, in: folder.path + "/left")
    do {
      try cut.check()
    } catch {
      throw Complaint("--seed \(seed) --cut \(number): \(error)")
    }
  }

  /// Demands that the recording has everything: what it leads to is what is there.
  private func checkRecording() throws {
    let live = Disk(recording, after: events).live
    let space = workload.space
    for (path, bytes) in live {
      guard let there = FileManager.default.contents(atPath: path), [UInt8](there) == bytes else {
        throw Complaint("the recording of seed \(seed) is not what happened to \(path)")
      }
    }
    for name in try space.names {
      try demand(live[space.path(name)] != nil, "seed \(seed): \(name) was not recorded")
    }
  }
}
