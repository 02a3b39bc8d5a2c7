// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection

private final class Alpha: Sendable {}
private final class Beta: Sendable {}
private final class Gamma: Sendable {}
private protocol Greek: Sendable {}
extension Alpha: Greek {}

private final class Trio: Sendable {
  let alpha: Alpha, beta: Beta, gamma: Gamma
  init(alpha: Alpha, beta: Beta, gamma: Gamma) {
    (self.alpha, self.beta, self.gamma) = (alpha, beta, gamma)
  }
}

private struct PairOf<A: Sendable, B: Sendable>: Sendable {}

/// What is looked up, among 1,024 other registrations of 256 types.
private func container() -> Container {
  let container = Container()
  let types: [any Sendable.Type] = [
    Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
    UInt32.self, UInt64.self, Bool.self, Float.self, Double.self, String.self, Character.self,
    Substring.self,
  ]
  func register<A: Sendable, B: Sendable>(_ a: A.Type, _ b: B.Type) {
    for name in 0..<4 { container.register(Container.Key("other \(name)")) { _ in PairOf<A, B>() } }
  }
  for a in types { for b in types { register(a, b) } }
  container.register { _ in Alpha() }.as(Container.Key<any Greek>()) { $0 }
  container.register(Container.Key("main")) { _ in Beta() }
  container.register { _ in Gamma() }
  container.register(scope: .transient) { c in
    try Trio(alpha: c.get(), beta: c.get(Container.Key("main")), gamma: c.get())
  }
  return container
}

/// The limit: a lock and a dictionary that knows the type of its objects.
private struct Objects: Sendable {
  struct Name: Hashable, Sendable {
    let type: ObjectIdentifier
    let name: String
  }

  let alphas = LockedValues([ObjectIdentifier(Alpha.self): Alpha()])
  let betas = LockedValues([Name(type: ObjectIdentifier(Beta.self), name: "main"): Beta()])
  let gammas = LockedValues([ObjectIdentifier(Gamma.self): Gamma()])
  let greeks = LockedValues<ObjectIdentifier, any Greek>([
    ObjectIdentifier((any Greek).self): Alpha()
  ])

  func alpha() -> Alpha? { alphas.get(ObjectIdentifier(Alpha.self)) }
  func beta() -> Beta? { betas.get(Name(type: ObjectIdentifier(Beta.self), name: "main")) }
  func greek() -> (any Greek)? { greeks.get(ObjectIdentifier((any Greek).self)) }

  func trio() -> Trio? {
    guard let alpha = alpha(), let beta = beta(),
      let gamma = gammas.get(ObjectIdentifier(Gamma.self))
    else { return nil }
    return Trio(alpha: alpha, beta: beta, gamma: gamma)
  }
}

private let many = 20_000

func containers(_ report: Report) {
  let race = Race(rounds: 25...401, seconds: 8)
  look(race, "singleton", Container.Key<Alpha>()) { $0.alpha() }
  look(race, "singleton by its protocol", Container.Key<any Greek>()) { $0.greek() }
  look(race, "singleton by its name", Container.Key<Beta>("main")) { $0.beta() }
  let new = "new object, three dependencies"
  look(race, new, Container.Key<Trio>(), count: many / 10) { $0.trio() }
  report.run(race)
}

/// Rows of one look-up, by one thread and by two at once.
private func look<Value: Sendable>(
  _ race: Race, _ name: String, _ key: Container.Key<Value>,
  count: Int = many, _ byHand: @escaping @Sendable (Objects) -> Value?
) {
  let limit = "lock and dictionary: \(name)"
  race.enter(name, container) { container in
    try nanoseconds(count) { _ in blackHole(try container.get(key)) }
  }
  race.enter(limit, Objects.init) { objects in
    nanoseconds(count) { _ in blackHole(byHand(objects)) }
  }
  race.row(name, name, beside: [limit])
  let two = "by two threads at once, each"
  race.enter("\(name), \(two)", container) { container in
    try twice(count) { blackHole(try container.get(key)) }
  }
  race.enter("\(limit) \(two)", Objects.init) { objects in
    try twice(count) { blackHole(byHand(objects)) }
  }
  race.row("\(name), \(two)", "\(name), \(two)", beside: ["\(limit) \(two)"])
}
