// SPDX-License-Identifier: Apache-2.0
//
// Two screens that the container does not create, as with a storyboard, and two ways to pass the
// second one its dependencies: properties of the same name, and a shared context.

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

// Copies the properties with the prefix from one screen to the next, but not the titles.
let (list, first) = (ListScreen(), DetailScreen())
list.segueUser = User(name: "Ada")
try Container.handOff(from: list, to: first, prefix: "segue")
try container.inject(into: first)

// A context has the shared objects under typed keys; it gets the others from its parent.
let context = container.child { $0.register(.profileUser) { _ in User(name: "Grace") } }
try context.inject(into: DetailScreen())

// A property of the same name and another type is an error that names it, not a crash.
final class Mistaken: Injectable {
  @Injected var segueUser = "Ada"
  func didInject() {}
}
do {
  try Container.handOff(from: list, to: Mistaken(), prefix: "segue")
} catch {
  print(error)
}
