// SPDX-License-Identifier: Apache-2.0
//
// The second process of the tests.
//
//   settings-probe FILE                   prints every property: name, tab, text as a Swift literal
//   settings-probe FILE increment N       increments `loginCount` so often
//   settings-probe FILE fill PREFIX N     sets the keys PREFIX0 to PREFIXn-1

import Keepsake
import SettingsFixture

let words = Array(CommandLine.arguments.dropFirst())
let settings = try EverySetting(on: Device(path: words[0], access: .existing))
switch words.dropFirst().first {
case "increment": for _ in 0..<(Int(words[2]) ?? 0) { try settings.$loginCount.increment() }
case "fill":
  for number in 0..<(Int(words[3]) ?? 0) { try settings.set("value", for: "\(words[2])\(number)") }
default:
  for sample in Samples.all {
    print(sample.name, sample.read(settings).debugDescription, separator: "\t")
  }
}
for failure in settings.errors { print("error", failure, separator: "\t") }
