// SPDX-License-Identifier: Apache-2.0

import Histories
import Synchronization
import TestSupport
import Testing

@Suite struct HistoryTests {
  /// Making one smaller takes long enough, and where many fail, they fail for one reason.
  private static let hasShrunk = Mutex(false)

  @Test(arguments: Seeds.list(400, debug: 20))
  func anyHistoryInMemoryGoesAsTheOracleSays(seed: UInt64) throws {
    try play(History(seed: seed, storage: .memory))
  }

  @Test(arguments: Seeds.list(120, debug: 8))
  func anyHistoryOnFilesGoesAsTheOracleSays(seed: UInt64) throws {
    try play(History(seed: seed, storage: .files))
  }

  @Test(arguments: Seeds.list(400, debug: 20))
  func anyHistoryWithAHubGoesAsTheOracleSays(seed: UInt64) throws {
    try play(History(seed: seed, storage: .memory, hasHub: true))
  }

  @Test(arguments: Seeds.list(50, debug: 4))
  func anyHistoryOnFilesWithAHubGoesAsTheOracleSays(seed: UInt64) throws {
    try play(History(seed: seed, storage: .files, hasHub: true))
  }

  private func play(_ history: History) throws {
    do {
      try history.play()
    } catch {
      Issue.record("seed \(history.seed), in \(history.storage): \(error)")
      let isFirst = Self.hasShrunk.withLock { hasShrunk in
        defer { hasShrunk = true }
        return !hasShrunk
      }
      guard isFirst else { return }
      var shrinker = Shrinker(history, error)
      shrinker.run()
      Issue.record(
        """
        Smaller, for Scripts/soak --replay FILE:
        # \(shrinker.failure)
        \(shrinker.history)
        """)
    }
  }

  /// Both have to read everything; wherever the exchange ends, the next one has to know.
  @Test(arguments: 0..<17)
  func anExchangeInFullThatIsCutOffIsMadeGood(crash: Int) throws {
    try History(
      parsing: """
        devices 2
        write 0 cloud a string:old
        write 0 cloud b string:keep
        meet 0 1
        pass 20
        delete 1 cloud a
        pass 8640000000
        retire 1 0
        compact 1
        meet 1 0 crash \(crash)
        pass 20
        meet 1 0

        """
    ).play()
  }

  /// As if nothing had been collected: of two deletions from the future only the last is sent.
  @Test func aGraveUnderALaterEntryIsNotSent() throws {
    try History(
      parsing: #"""
        devices 2
        skew 1 34560000000
        delete 1 cloud a
        pass 7862400000
        compact 1
        write 0 cloud a string:\u{00E9}
        delete 1 cloud a
        meet 1 0

        """#
    ).play()
  }

  /// When it was deleted there, the reader did not have the key, and its clock stands still.
  @Test func anEarlierDeletionThatComesAfterAGraveWasPassedIsReplacedByIt() throws {
    try History(
      parsing: #"""
        devices 2
        freeze 1
        write 1 cloud b data:
        pass 7862400000
        delete 0 cloud a
        pass 15638400000
        compact 0
        meet 1 0
        delete 1 cloud a

        """#
    ).play()
  }

  @Test func aDeletionDuringAnExchangeThatLeavesNoTombstoneTakesATimestamp() throws {
    try History(
      parsing: #"""
        devices 2
        write 1 defaults a data:
        pass 20
        write 0 cloud a integer:2
        meet 0 1 during 0 delete 1 defaults a
        delete 1 cloud b

        """#
    ).play()
  }

  @Test func whatAWriteDuringAnExchangeReplacesMayBeHeldElsewhere() throws {
    try History(
      parsing: #"""
        devices 2
        freeze 1
        pass 600000
        meet 1 0 during 1 write 0 cloud b data:
        meet 1 0 during 1 write 0 cloud b data:

        """#
    ).play()
  }

  /// Its stores are those that were there when it began.
  @Test func aStoreThatComesUpDuringAnExchangeIsNotYetExchanged() throws {
    try History(
      parsing: #"""
        devices 3
        meet 0 2 during 1 write 0 cloud:a a string:
        delete 1 cloud:a b
        meet 1 0
        pass 7862400000
        compact 0
        meet 0 2

        """#
    ).play()
  }

  /// The write during the exchange moves only the sender's end.
  @Test func whatWasReadBeforeASenderWroteOnCountsAsSeen() throws {
    try History(
      parsing: #"""
        devices 4
        write 3 cloud b data:
        delete 2 cloud b
        meet 2 3 during 0 write 2 cloud a data:
        pass 20
        write 3 cloud a string:e\u{0301}
        meet 2 0
        meet 0 3

        """#
    ).play()
  }

  /// A hub, which compares no values, keeps what it got last of two that wrote at one moment.
  @Test func ofTwoCopiesThatWroteAtOneMomentTheLargerValueReachesTheHub() throws {
    try History(
      parsing: """
        devices 3
        hub
        skew 1 360000
        delete 1 cloud a
        copy 1 over 2
        write 1 cloud a integer:1
        write 2 cloud a string:
        meet 1 0
        meet 2 0
        pass 600000
        meet 1 0
        meet 2 0

        """
    ).play()
  }

  @Test(arguments: Seeds.list(50))
  func aHistoryIsReadFromItsScript(seed: UInt64) throws {
    for storage in [History.Storage.memory, .files] {
      let history = History(seed: seed, storage: storage, hasHub: storage == .files)
      #expect(try History(parsing: history.description) == history)
      let again = History(seed: seed, storage: storage, hasHub: history.hasHub)
      #expect(again == history, "the same seed, the same history")
    }
  }

  @Test(arguments: [
    "write 0 cloud", "write 0 cloud k x:1", "meet 0", "meet 0 0", "meet 0 9", "pass", "pass 1 2",
    "save 0 to 1", "fly 0", "devices 0", "chunk 0", "storage tape", #"delete 0 cloud \u{zz}"#,
    "meet 0 1 during 1 write 0",
  ])
  func whatIsNoHistoryIsRefused(line: String) {
    #expect(throws: ScriptError.self) { try History(parsing: "devices 2\n\(line)\n") }
  }
}
