// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

extension Container.Key where Value == RealAPI {
  fileprivate static var main: Self { Self("main") }
  fileprivate static var backup: Self { Self("backup") }
}

/// `set` in a child does what it does in the container itself, for the child alone.
@Suite(.timeLimit(hang)) struct ChildSetTests {
  /// The containers in which a `set` looks alike.
  enum Place: String, CaseIterable, Sendable {
    case itself, child, grandchild, fresh, childOfFresh, freshChild

    fileprivate func container(_ parent: Container) -> Container {
      switch self {
      case .itself: parent
      case .child: parent.child()
      case .grandchild: parent.child().child()
      case .fresh: parent.child(fresh: true)
      case .childOfFresh: parent.child(fresh: true).child()
      case .freshChild: parent.child().child(fresh: true)
      }
    }
  }

  /// What every lookup finds.
  private func hosts(_ c: Container) throws -> [String] {
    [
      try c.get(RealKey()).host, try c.get(.main).host, try c.get(.backup).host,
      try c.get(APIKey()).host, try c.get(APIKey("spare")).host,
      try c.all(RealAPI.self).map(\.host).joined(separator: " "),
      try c.all((any API).self).map(\.host).joined(separator: " "),
    ]
  }

  private let before = [
    "main", "main", "backup", "main", "backup", "main backup", "main backup",
  ]

  @Test(arguments: Place.allCases)
  func anUnnamedSetReplacesThePrimaryOneUnderAllItsKeys(place: Place) throws {
    let c = place.container(twoAPIs())
    #expect(try hosts(c) == before)
    try c.set(RealAPI(host: "set"))
    #expect(try hosts(c) == ["set", "set", "backup", "set", "backup", "set backup", "set backup"])
    #expect(try c.get(APIKey()) as? RealAPI === c.get(.main))
    try c.set(nil, for: RealKey())
    #expect(try hosts(c) == before)
  }

  @Test(arguments: Place.allCases)
  func aNamedSetReplacesThatOneAlone(place: Place) throws {
    let c = place.container(twoAPIs())
    try c.set(RealAPI(host: "set"), for: .backup)
    #expect(try hosts(c) == ["main", "main", "set", "main", "set", "main set", "main set"])
    #expect(try c.get(APIKey("spare")) as? RealAPI === c.get(.backup))
    try c.set(nil, for: .backup)
    #expect(try hosts(c) == before)
  }

  @Test(arguments: Place.allCases)
  func aSetOfAnAliasReplacesThatKeyAlone(place: Place) throws {
    let c = place.container(twoAPIs())
    try c.set(MockAPI(), for: APIKey())
    let (spare, all) = ("backup", "mock backup")
    #expect(try hosts(c) == ["main", "main", "backup", "mock", spare, "main backup", all])
    try c.set(RealAPI(host: "set"))
    #expect(try hosts(c) == ["set", "set", "backup", "mock", spare, "set backup", all])
    try c.set(nil, for: APIKey())
    #expect(try hosts(c) == ["set", "set", "backup", "set", spare, "set backup", "set backup"])
    #expect(try c.get(APIKey()) as? RealAPI === c.get(.main))
  }

  @Test(arguments: Place.allCases)
  func aSetThatMatchesSeveralIsAmbiguous(place: Place) throws {
    let parent = twoAPIs()
    parent.register(Container.Key("a")) { _ in 1 }
    parent.register(Container.Key("b")) { _ in 2 }
    let c = place.container(parent)
    let error = injectionError { try c.set(3) }
    #expect(error?.code == .ambiguous)
    #expect(error?.candidates == ["Int \"a\"", "Int \"b\""])
    #expect(try c.all(Int.self) == [1, 2])
  }

  @Test(arguments: Place.allCases)
  func aSetObjectIsCompleted(place: Place) throws {
    let (then, injected) = (Counter(), Counter())
    let parent = Container { c in
      c.register(Container.Key("name")) { _ in "name" }
      c.register(make: { _ in Told {} }) { _, c in
        let name = try c.get(Container.Key<String>("name"))
        #expect(name == "name")
        then.up()
      }
    }
    try place.container(parent).set(Told { injected.up() })
    #expect(then.value == 1)
    #expect(injected.value == 1)
  }

  @Test(arguments: Place.allCases)
  func aWeaklySetObjectIsNotKept(place: Place) throws {
    let c = place.container(twoAPIs())
    var set: RealAPI? = RealAPI(host: "set")
    try c.set(set, for: .backup, weak: true)
    #expect(try hosts(c) == ["main", "main", "set", "main", "set", "main set", "main set"])
    set = nil
    #expect(try hosts(c) == before)
  }

  @Test(arguments: Place.allCases.filter { $0 != .itself })
  func aSetThatNoKeyInViewAnswersToIsAnError(place: Place) throws {
    let c = place.container(twoAPIs())
    let description = c.description
    let error = injectionError { try c.set(RealAPI(host: "set"), for: Container.Key("bakcup")) }
    #expect(error?.code == .missing)
    #expect(error?.key == "RealAPI \"bakcup\"")
    #expect(error?.candidates == ["RealAPI \"main\"", "RealAPI \"backup\""])
    #expect(
      error?.cure == "`register` it in the child, or declare it in the parent by `set(nil, for:)`.")
    #expect(injectionError { try c.set(MockAPI()) }?.code == .missing)
    #expect(c.description == description)
  }

  @Test func aDeclaredKeyMayBeSetInAChild() throws {
    let container = Container()
    try container.set(nil, for: Container.Key<String>("user"))
    let child = try container.child { try $0.set("Ada", for: Container.Key("user")) }
    #expect(try child.get(Container.Key<String>()) == "Ada")
    #expect(try container.find(Container.Key<String>()) == nil)
    #expect(try child.child(fresh: true).get(Container.Key<String>()) == "Ada")
  }

  @Test func theParentAndItsSingletonsKeepTheirObjects() throws {
    let container = twoAPIs()
    container.register(using: { (api: any API) in Shop(api: api) })
    container.register(
      Container.Key("host"), scope: .transient, using: { (api: any API) in api.host })
    let main: RealAPI = try container.get()
    let child = try container.child { try $0.set(RealAPI(host: "set")) }
    #expect(try container.get(RealKey()) === main)
    #expect(try child.get(Container.Key<Shop>()).api.host == "main")
    #expect(try child.get(Container.Key<String>("host")) == "set")
    #expect(try container.get(Container.Key<String>("host")) == "main")
    try child.set(nil, for: RealKey())
    #expect(try child.get(RealKey()) === main)
  }

  @Test func theNearestSetWins() throws {
    let container = twoAPIs()
    let child = container.child()
    let grandchild = child.child()
    try child.set(RealAPI(host: "child"))
    #expect(try grandchild.get(APIKey()).host == "child")
    try grandchild.set(RealAPI(host: "grandchild"))
    #expect(try grandchild.get(APIKey()).host == "grandchild")
    #expect(try child.get(APIKey()).host == "child")
    #expect(try grandchild.child(fresh: true).get(APIKey()).host == "grandchild")
    try grandchild.set(nil, for: RealKey())
    try container.set(RealAPI(host: "container"))
    #expect(try grandchild.get(APIKey()).host == "child")
    try child.set(nil, for: .main)
    #expect(try grandchild.get(APIKey()).host == "container")
  }

  @Test func aKeyThatAChildHasSetStaysWhenItsParentSetsNil() throws {
    let container = Container()
    let key = Container.Key<String>("user")
    try container.set("Ada", for: key)
    let child = try container.child { try $0.set("Bob", for: key) }
    try container.set(nil, for: key)
    #expect(try child.get(key) == "Bob")
    #expect(try child.get(Container.Key<String>()) == "Bob")
    #expect(try container.find(key) == nil)
  }

  @Test func aReplacedRecipeOfTheParentDoesNotRun() async throws {
    let made = Counter()
    let container = Container { c in
      c.register { _ async -> RealAPI in
        made.up()
        return RealAPI()
      }
      c.register(using: { (_: String) in Shop(api: MockAPI()) })
    }
    let child = try container.child { c in
      try c.set(RealAPI(host: "set"))
      try c.set(Shop(api: MockAPI()))
    }
    #expect(throws: Never.self) { try child.validate() }
    #expect(injectionError { try container.validate() }?.problems.count == 1)
    try await child.start()
    #expect(made.value == 0)
    #expect(try child.get(RealKey()).host == "set")
    let error = injectionError { _ = try container.get(RealKey()) }
    #expect(error?.code == .notReady)
  }

  @Test func whatAChildHasSetIsAPropertyOfWhatItStarts() async throws {
    let container = twoAPIs()
    container.register(Container.Key<Int>("number"), scope: .transient) { _ in 1 }
    let child = try container.child { c in
      try c.set(RealAPI(host: "set"), for: .backup)
      try c.set(2, for: Container.Key("number"))
    }
    let app = try await child.start()
    #expect(app.main.host == "main")
    #expect(app.backup.host == "set")
    #expect(app.number == 2)
  }

  @Test func theDescriptionListsWhatAChildHasSet() throws {
    let child = try twoAPIs().child { try $0.set(RealAPI(host: "set")) }
    #expect(
      child.description.split(separator: "\n").prefix(2)
        == ["RealAPI \"main\": set in place of the parent's", "parent:"])
    try child.set(nil, for: RealKey())
    #expect(child.description.hasPrefix("nothing registered\nparent:\n"))
  }

  @Test(arguments: Place.allCases)
  func aReplacedObjectIsReleasedWithItsAliases(place: Place) throws {
    let child = place.container(twoAPIs())
    weak var gone: RealAPI?
    do {
      let set = RealAPI(host: "set")
      try child.set(set)
      for _ in 1...3 { _ = try child.get(APIKey()) }
      gone = set
    }
    #expect(gone != nil)
    try child.set(nil, for: RealKey())
    #expect(gone == nil)
  }

  @Test func threadsThatSetOneKeyInAChildLeaveOneObject() async throws {
    for _ in 0..<50 {
      let child = twoAPIs().child()
      _ = await onThreads(4) { index in try child.set(RealAPI(host: "\(index)"), for: .backup) }
      let set: RealAPI = try child.get(.backup)
      #expect(try child.get(APIKey("spare")) as? RealAPI === set)
      #expect(set.host != "backup")
    }
  }
}

extension Container.Key where Value == Int {
  fileprivate static var number: Self { Self("number") }
}
