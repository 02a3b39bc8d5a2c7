// SPDX-License-Identifier: Apache-2.0
//
// A file of ten million keys beside one of a thousand: the ratio is the growth.

import Keepsake

func large(_ report: Report) {
  report.run(opens())
  report.run(reads())
  report.run(sets())
  report.run(merges())
}

/// Measures one work at both sizes.
private func race<Subject>(
  _ work: (String) -> String, _ make: (Int) throws -> Subject,
  _ round: @escaping (Subject, Int) throws -> Double
) -> Race {
  let race = Race(rounds: 5...101, seconds: 2)
  func name(_ size: Int) -> String { "\(Scale.name(size)) keys" }
  for size in [Scale.large, 1_000] {
    race.enter(name(size), { try make(size) }) { try round($0, size) }
  }
  race.row(work(name(Scale.large)), name(Scale.large), beside: [name(1_000)])
  return race
}

private func copy(_ size: Int) throws -> BenchmarkSettings {
  try BenchmarkSettings(Fixture(keys: size).copy())
}

private func opens() -> Race {
  race({ "open, read one of \($0)" }, { try Fixture(keys: $0).copy() }) { path, size in
    let key = Fixture.key(size / 2)
    return try opened({ try BenchmarkSettings(path) }, read: { $0.string(forKey: key) })
  }
}

/// Reads a thousand keys, which were read before.
private func reads() -> Race {
  race({ "string(forKey:), of \($0)" }, copy) { settings, size in
    let keys = (0..<1_000).map { Fixture.key($0 * 7_368_787 % size) }
    return nanoseconds(10_000) { blackHole(settings.string(forKey: keys[$0 % keys.count])) }
  }
}

private func sets() -> Race {
  var round = 0
  return race({ "set, .crashSafe, of \($0)" }, copy) { settings, size in
    round += 1
    return nanoseconds(40) {
      let number = (round * 40 + $0) * 7_368_787 % size
      settings.set(Fixture.value(round), forKey: Fixture.key(number))
    }
  }
}

private func merges() -> Race {
  race({ "Merging 1,000 changes, \($0)" }, { try MetDevices(MetPair(copiesOf: $0)) }) { met, _ in
    try met.change(1_000)
    return try nanoseconds { _ in try met.merge() }
  }
}
