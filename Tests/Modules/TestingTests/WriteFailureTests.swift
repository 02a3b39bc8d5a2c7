// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeDevice
import KeepsakeTesting
import TestSupport
import Testing

@Suite struct WriteFailureTests {
  @Test func whileWritesFailNothingIsWrittenAndEverythingIsRead() throws {
    for device in try [Device.inMemory(), .temporary()] {
      let settings = try AppSettings(on: device)
      settings.username = "ada"
      let recorder = ChangeRecorder(settings)
      try device.whileWritesFail {
        settings.username = "bob"
        #expect(settings.username == "ada")
        expectError(.permissionDenied) { try settings.$username.write("eve") }
        #expect(throws: KeepsakeError.self) {
          try settings.transaction {
            settings["k"] = 1; try settings.$username.write("eve")
          }
        }
      }
      #expect(settings.failures.count == 1)
      #expect(recorder.sets.isEmpty)
      settings.username = "bob"
      #expect(try AppSettings(on: device).username == "bob")
    }
  }

  @Test func afterwardsWritesSucceedWhateverHappened() throws {
    struct Own: Error {}
    let settings = try AppSettings(on: .inMemory())
    for _ in 0..<3 {
      #expect(throws: Own.self) { try settings.device.whileWritesFail { throw Own() } }
      try settings.$username.write("ada")
      #expect(try settings.device.whileWritesFail { 5 } == 5)
      try settings.$username.write("bob")
    }
  }

  @Test func aDeviceOpenedForReadingStaysSo() throws {
    let device = try Device.temporary()
    let reader = try Device(path: device.path, access: .readOnly)
    try reader.whileWritesFail {}
    #expect(try reader.tables.access { try $0.first("PRAGMA query_only") { $0.integer(0) } } == 1)
    #expect(throws: KeepsakeError.self) { try AppSettings(on: reader).$username.write("ada") }
    try AppSettings(on: device).$username.write("ada")
  }

  @Test func aMergeFailsThereToo() throws {
    let devices = try SimulatedDevices(count: 2)
    try SharedSettings(on: devices[0]).theme = .dark
    let error = #expect(throws: KeepsakeError.self) {
      try devices[1].whileWritesFail { try devices.merge(0, 1) }
    }
    #expect(error?.code == .permissionDenied)
    #expect(error?.path == devices[1].path)
    try devices.settle()
    #expect(try SharedSettings(on: devices[1]).theme == .dark)
  }
}
