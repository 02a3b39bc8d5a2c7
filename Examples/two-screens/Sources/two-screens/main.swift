// SPDX-License-Identifier: Apache-2.0
//
// Two screens, made by somebody else as a storyboard makes them, and two ways to hand over what
// the second needs: properties of the same name, and a shared context.

import KeepsakeInjection

struct User: Sendable { let name: String }

extension Container.Key where Value == User {
  static var profileUser: Self { Self("profile user") }
}

final class Greeter: Sendable {
  func greet(_ user: User) -> String { "Hello, \(user.name)!" }
}

class Screen: Injectable {
  @Injected var greeter: Greeter
  @Injected var segueUser: User?

  func didInject() {}
}

final class ListScreen: Screen {
  @Injected var title = "List"
}

final class DetailScreen: Screen {
  @Injected var title = "Detail"
  @Injected(.profileUser) var profileUser: User?

  override func didInject() {
    if let user = segueUser ?? profileUser { print("\(title): \(greeter.greet(user))") }
  }
}

let container = Container { $0.register { _ in Greeter() } }

// What has the prefix goes from one screen to the next; the titles stay.
let (list, first) = (ListScreen(), DetailScreen())
list.segueUser = User(name: "Ada")
try Container.handOff(from: list, to: first, prefix: "segue")
try container.inject(into: first)

// What everybody on the way needs is in a context with typed keys; the rest comes from its parent.
let context = try container.child { try $0.set(User(name: "Grace"), for: .profileUser) }
try context.inject(into: DetailScreen())

// A property of the same name and another type is an error with its name, not a crash.
final class Mistaken: Injectable {
  @Injected var segueUser = "Ada"
  func didInject() {}
}
do {
  try Container.handOff(from: list, to: Mistaken(), prefix: "segue")
} catch {
  print(error)
}
