// SPDX-License-Identifier: Apache-2.0
//
// The second process of the tests: prints every property of the settings in a device file, as lines
// of name, tab, text as a Swift literal.

import Keepsake
import SettingsFixture

let settings = try EverySetting(on: Device(path: CommandLine.arguments[1], access: .existing))
for sample in Samples.all {
  print(sample.name, sample.read(settings).debugDescription, separator: "\t")
}
for failure in settings.errors { print("error", failure, separator: "\t") }
