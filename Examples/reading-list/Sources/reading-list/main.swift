// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake

let environment = ProcessInfo.processInfo.environment
let file = URL(fileURLWithPath: environment["READING_LIST"] ?? "laptop.keepsake")

// Every page of the file is checked; a backup takes the place of a damaged one.
let aside = try Device.recover(at: file) { damage in
  damage.backups.first.map { .restore($0) } ?? .giveUp
}
if aside != nil { print("A backup has replaced the damaged file, which is kept beside it.") }

let device = try Device(at: file)
let bundle = try SettingsBundle(at: URL(fileURLWithPath: "Settings.bundle"))
let settings = try AppSettings(on: device, seededBy: bundle)
let library = try Library(on: device)

let words = CommandLine.arguments.dropFirst()
let command = words.first ?? ""
let operand = words.dropFirst().first ?? ""
switch command {
case "hello":
  print("Hello, \(settings.reader)!")
case "add":
  try library.add(operand)
case "list":
  for book in library.books(by: settings.order) { print(book.isRead ? "[x]" : "[ ]", book.title) }
case "finish":
  try device.transaction {
    guard try library.finish(operand) else { return print("There is no book \(operand).") }
    try settings.$finished.increment()
  }
case "watch":
  for await goal in library.$goal.values { print("The goal is \(goal) books.") }
case "sync":
  let report = try device.merge(with: Device(path: operand))
  let received = report.changes.count { $0.into == 0 }
  print("Received \(received), sent \(report.changes.count - received).")
  for conflict in try library.conflicts where !conflict.isResolved {
    guard let lost = try library.$goal.lost(in: conflict), lost > library.goal else { continue }
    try device.restore(conflict)
    print("The larger goal stays: \(lost) books.")
  }
default:
  print("hello, add TITLE, list, finish TITLE, watch, sync FILE")
}
