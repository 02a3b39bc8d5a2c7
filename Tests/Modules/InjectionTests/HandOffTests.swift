// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

private class First: Injectable {
  func didInject() {}
  @Injected var prepUser: String? = "ada"
  @Injected var prepCount = 3
  var prepPlain = "plain"
  @Injected var prepNothing: String? = nil
  @Injected var other = "stays"
}

private class Second: Injectable {
  func didInject() {}
  @Injected var prepUser: String?
  @Injected var prepCount: Int
  @Injected var prepPlain = ""
  @Injected var prepNothing: String? = "kept"
  @Injected var other = ""
  @Injected var prepUnknown = "own"
}

private final class Third: Second {
  @Injected var prepMore = 1
}

private class Wrong: Injectable {
  func didInject() {}
  @Injected var prepUser = 1
  @Injected var prepCount = "x"
  @Injected var prepPlain = ""
}

@Suite struct HandOffTests {
  @Test func sameNamesWithThePrefixAreHandedOver() throws {
    let second = Second()
    try Container.handOff(from: First(), to: second, prefix: "prep")
    #expect(second.prepUser == "ada")
    #expect(second.prepCount == 3)
    #expect(second.prepPlain == "plain")
    #expect(second.prepNothing == nil)
    #expect(second.other == "")
    #expect(second.prepUnknown == "own")
  }

  @Test func withoutPrefixAllSameNamesAreHandedOver() throws {
    let second = Second()
    try Container.handOff(from: First(), to: second)
    #expect(second.other == "stays")
  }

  @Test func inheritedPropertiesTakePart() throws {
    let (third, last) = (Third(), Third())
    try Container.handOff(from: First(), to: third, prefix: "prep")
    third.prepMore = 2
    try Container.handOff(from: third, to: last, prefix: "prep")
    #expect(last.prepUser == "ada")
    #expect(last.prepMore == 2)
  }

  @Test func everyMismatchIsReportedByNameAndNothingIsHandedOver() throws {
    let wrong = Wrong()
    let error = injectionError {
      try Container.handOff(from: First(), to: wrong, prefix: "prep")
    }
    #expect(error?.code == .mismatch)
    #expect(
      error?.candidates == [
        "prepUser: Optional<String> to Int", "prepCount: Int to String",
      ])
    #expect(error?.key == "Wrong")
    #expect((wrong.prepUser, wrong.prepCount, wrong.prepPlain) == (1, "x", ""))
  }

  @Test func nilGoesOnlyWhereTheTypeIsTheSame() throws {
    final class From: Injectable {
      var prepName: String?
      @Injected var prepAge: Int? = nil
      func didInject() {}
    }
    final class To: Injectable {
      @Injected var prepName = "kept"
      @Injected var prepAge: Int? = 3
      func didInject() {}
    }
    final class Other: Injectable {
      @Injected var prepName: Int? = 1
      func didInject() {}
    }
    let (to, other) = (To(), Other())
    try Container.handOff(from: From(), to: to)
    #expect(to.prepName == "kept")
    #expect(to.prepAge == nil)
    let error = injectionError { try Container.handOff(from: From(), to: other) }
    #expect(error?.candidates == ["prepName: Optional<String> to Optional<Int>"])
    #expect(other.prepName == 1)
  }

  @Test func anUnreadPropertyHandsNothingOver() throws {
    let second = Second()
    second.prepCount = 1
    try Container.handOff(from: Second(), to: second, prefix: "prepCount")
    #expect(second.prepCount == 1)
  }
}
