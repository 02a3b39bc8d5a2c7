// SPDX-License-Identifier: Apache-2.0
//
// The second process of the tests.
//
//   settings-probe FILE                   prints every property: name, tab, text as a Swift literal
//   settings-probe FILE increment N       increments `loginCount` so often
//   settings-probe FILE fill PREFIX N     sets the keys PREFIX0 to PREFIXn-1
//   settings-probe FILE mix SEED N        sets and removes the keys k0 to k6, N times in all
//   settings-probe short FOLDER           sets one key on the device of an application, and ends
//   settings-probe FILE meet OTHER P N    sets P0 to Pn-1 in the cloud store, within a session with
//                                         OTHER that the process's end cuts off

import Foundation
import Keepsake
import SettingsFixture
import TestSupport

let words = Array(CommandLine.arguments.dropFirst())
if words[0] == "short" {
  let device = try Device(identifier: "short", in: URL(fileURLWithPath: words[1]))
  try UserDefaultsStore(on: device).write(1, for: "k")
  exit(0)
}
let device = try Device(path: words[0], access: .existing)
let settings = try EverySetting(on: device)
switch words.dropFirst().first {
case "increment": for _ in 0..<(Int(words[2]) ?? 0) { try settings.$loginCount.increment() }
case "fill":
  for number in 0..<(Int(words[3]) ?? 0) {
    try settings.write("value", for: "\(words[2])\(number)")
  }
case "mix":
  var generator = SeededGenerator(seed: UInt64(words[2]) ?? 0)
  for number in 0..<(Int(words[3]) ?? 0) {
    let key = "k\(Int.random(in: 0..<7, using: &generator))"
    let isRemoved = Int.random(in: 0..<4, using: &generator) == 0
    try settings.write(isRemoved ? nil : .string("\(words[2]) \(number)"), for: key)
  }
case "meet":
  let session = SyncSession(device, try Device(path: words[2], access: .existing)) {
    print("failure", $0.code, separator: "\t")
  }
  let shared = try CloudKeyValueStore(on: device)
  for number in 0..<(Int(words[4]) ?? 0) { try shared.write("value", for: "\(words[3])\(number)") }
  withExtendedLifetime(session) {}
default:
  for sample in Samples.all {
    print(sample.name, sample.read(settings).debugDescription, separator: "\t")
  }
}
for failure in settings.errors { print("error", failure, separator: "\t") }
