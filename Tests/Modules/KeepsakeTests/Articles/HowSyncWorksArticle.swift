// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeTesting
import Testing

@Suite struct HowSyncWorksArticle {
  final class SharedSettings: SyncedSettings, @unchecked Sendable {
    @Setting var theme = "light"
  }

  private let phoneClock = ManualClock()
  private let laptopClock = ManualClock()
  private let (phone, laptop): (Device, Device)

  init() throws {
    phone = try .inMemory(clock: phoneClock)
    laptop = try .inMemory(clock: laptopClock)
  }

  @Test func whoKnewOfAWriteIsLater() throws {
    let (here, there) = (try SharedSettings(on: phone), try SharedSettings(on: laptop))
    here.theme = "dark"
    try phone.merge(with: laptop)
    laptopClock.advance(by: .seconds(-120))
    there.theme = "sepia"
    try phone.merge(with: laptop)
    #expect(here.theme == "sepia")
  }

  @Test func theFutureWaits() throws {
    let (here, there) = (try SharedSettings(on: phone), try SharedSettings(on: laptop))
    here.theme = "sepia"
    laptopClock.advance(by: .seconds(600))
    there.theme = "dark"
    let report = try phone.merge(with: laptop)
    #expect(!report.hasConverged && here.theme == "sepia")
    phoneClock.advance(by: .seconds(300))
    try phone.merge(with: laptop)
    #expect(here.theme == "dark")
  }

  @Test func lateTimestampsAreRevoked() throws {
    let (here, there) = (try SharedSettings(on: phone), try SharedSettings(on: laptop))
    phoneClock.advance(by: .seconds(3 * 365 * 86_400))
    here.theme = "light"
    try phone.merge(with: laptop)
    phoneClock.advance(by: .seconds(-3 * 365 * 86_400))
    let again = try SharedSettings(on: phone)
    #expect(try phone.merge(with: laptop).hasConverged)
    #expect(again.theme == "light" && there.theme == "light")
  }

  @Test func aCopyIsFound() throws {
    let devices = try SimulatedDevices(count: 1)
    try SharedSettings(on: devices[0]).theme = "dark"
    let copy = try devices.copy(0)  // as `cp` does
    let report = try devices.merge(0, copy)
    #expect(report.events == [.newReplicaID(device: 1, reason: .copy)])
  }
}
