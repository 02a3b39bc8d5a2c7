// SPDX-License-Identifier: Apache-2.0

import Keepsake
import TestSupport
import Testing

@Suite struct ValueLimitTests {
  /// A store that syncs has 1 MiB for a value, any other 16 MiB.
  @Test(
    arguments: [false, true],
    Seeds.some(of: WriteForm.allCases.filter { $0 != .removal && $0 != .reset }, debug: 3))
  func aValueAtTheLimitIsSetAndOneByteMoreIsRefused(isShared: Bool, form: WriteForm) throws {
    let device = try Device.inMemory()
    let store: any FaultySettings =
      isShared
      ? try FailureTests.Shared(on: device) : try FailureTests.Local(on: device, arguments: .none)
    let limit = isShared ? 1 << 20 : 1 << 24
    let largest = String(repeating: "x", count: limit)
    try form.write(largest, to: store)
    #expect(store.text == largest && store.failures.isEmpty)
    var failure: (any Error)?
    do { try form.write(largest + "x", to: store) } catch { failure = error }
    #expect((failure != nil) == form.isThrowing)
    let error = try #require(
      (failure as? KeepsakeError) ?? (failure as? SettingFailure)?.cause as? KeepsakeError
        ?? store.failures.first?.cause as? KeepsakeError)
    #expect(error.code == .invalidValue)
    let name = isShared ? "cloud" : "defaults"
    #expect(
      error.problem
        == "the value of \(name)/text has \(limit + 1) bytes, more than the limit of \(limit)")
    #expect(store.text == largest)
    store.text = "small"
    #expect(store.text == "small")
  }
}
