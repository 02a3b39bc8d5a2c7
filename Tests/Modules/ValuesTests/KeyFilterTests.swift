// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Testing

@Suite struct KeyFilterTests {
  /// As stores compare keys: "é" is not "e" and U+0301, nor does a part of a character begin one.
  @Test func aPrefixIsOneOfBytes() {
    let filter = KeyFilter.prefix("e")
    #expect(filter.contains(ByteText("editor")) && filter.contains(ByteText("e\u{301}")))
    #expect(!filter.contains(ByteText("é")) && !filter.contains(ByteText("")))
    #expect(KeyFilter.all.contains(ByteText("")) && KeyFilter.all.contains(ByteText("é")))
  }

  @Test func aKeyIsOneOfBytes() {
    let filter: KeyFilter = ["é", "b"]
    #expect(filter.contains(ByteText("é")) && filter.contains(ByteText("b")))
    #expect(!filter.contains(ByteText("e\u{301}")) && !filter.contains(ByteText("bb")))
  }
}
