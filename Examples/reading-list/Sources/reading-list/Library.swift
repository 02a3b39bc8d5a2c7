// SPDX-License-Identifier: Apache-2.0

import Keepsake

struct Book: Equatable {
  let title: String
  let isRead: Bool
}

/// The books of all devices. Each is a key of its own, so that two devices can change two books.
final class Library: SyncedSettings, @unchecked Sendable {
  @Setting var goal = 12

  func add(_ title: String) throws { try write(false, for: "book/" + title) }

  func finish(_ title: String) throws -> Bool {
    guard try read("book/" + title) != nil else { return false }
    try write(true, for: "book/" + title)
    return true
  }

  func books(by order: Order) -> [Book] {
    let books = dictionaryRepresentation().filter { $0.key.hasPrefix("book/") }
      .map { Book(title: String($0.key.dropFirst("book/".count)), isRead: $0.value == true) }
      .sorted { $0.title < $1.title }
    switch order {
    case .title: return books
    case .unread: return books.filter { !$0.isRead } + books.filter(\.isRead)
    }
  }
}
