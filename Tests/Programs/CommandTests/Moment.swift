// SPDX-License-Identifier: Apache-2.0

/// A time on 2026-11-20, as `--at` takes it and as the tool shows it.
struct Moment {
  static let ten = Moment(hour: 10)
  static let eleven = Moment(hour: 11)
  static let twelve = Moment(hour: 12)

  private let hour: Int
  private let minute: Int

  init(hour: Int, minute: Int = 0) {
    self.hour = hour
    self.minute = minute
  }

  private var clock: String { padded(hour) + ":" + padded(minute) }
  private func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  var argument: String { "--at=2026-11-20T\(clock):00Z" }
  var shown: String { "2026-11-20T\(clock):00.000Z" }
  var milliseconds: Int { 1_795_132_800_000 + (hour * 60 + minute) * 60_000 }

  /// 47 bits of milliseconds, 16 bits of a counter, as 16 hex digits.
  func timestamp(_ counter: Int = 0) -> String {
    let digits = String(milliseconds << 16 | counter, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The members after the value of an entry in `--json`.
  func provenance(_ origin: String, _ counter: Int = 0) -> String {
    #""modified":"\#(shown)","timestamp":"\#(timestamp(counter))","origin":"\#(origin)"}"#
  }

  /// An entry as `--json` prints it; `value` is JSON.
  func entry(_ type: String, _ value: String, _ origin: String, _ counter: Int = 0) -> String {
    #"{"type":"\#(type)","value":\#(value),"# + provenance(origin, counter)
  }

  func tombstone(_ origin: String, _ counter: Int = 0) -> String {
    #"{"deleted":true,"# + provenance(origin, counter)
  }
}
