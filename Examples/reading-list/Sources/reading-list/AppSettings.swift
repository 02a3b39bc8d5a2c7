// SPDX-License-Identifier: Apache-2.0

import Keepsake

enum Order: String, BackingStoreConvertible { case title, unread }

final class AppSettings: DeviceSettings, @unchecked Sendable {
  @Setting var reader = "nobody"
  @Setting var order = Order.title
  @Setting var finished = 0
}
