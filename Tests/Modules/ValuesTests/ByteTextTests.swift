// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Testing

@Suite struct ByteTextTests {
  @Test func textsOfOneLengthDifferIfAnyByteDoes() {
    for count in 0..<70 {
      let bytes = [UInt8](repeating: 0x61, count: count)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.isSameBytes(as: String(decoding: bytes, as: UTF8.self)))
      #expect(!text.isSameBytes(as: text + "a") && !(text + "a").isSameBytes(as: text))
      for place in 0..<count {
        var other = bytes
        other[place] = 0x62
        #expect(!text.isSameBytes(as: String(decoding: other, as: UTF8.self)), "\(count) \(place)")
      }
    }
    #expect(!"é".isSameBytes(as: "e\u{301}"))
  }
}
