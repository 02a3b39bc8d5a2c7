// SPDX-License-Identifier: Apache-2.0

import KeepsakeHubFile
import KeepsakeHubServer
import KeepsakeValues
import TestSupport
import Testing

@Suite struct HubDirectoryTests {
  private let folder: HubFolder

  init() throws { folder = try HubFolder() }

  @Test func aMemberIsFoundByItsTokenAndChanged() async throws {
    let file = try folder.open()
    let account = try await file.addAccount()
    let numbers = try await file.onDirectory { directory in
      try (0..<2).map { place in
        try directory.addMember(
          HubMember(
            account: account, name: "phone \0\(place)",
            tokenHash: Array(repeating: UInt8(place), count: 32), created: 5))
      }
    }
    let token = [UInt8](repeating: 1, count: 32)
    var found = try #require(await file.onDirectory { try $0.member(withToken: token) })
    #expect(found.number == numbers[1] && found.name == "phone \0" + "1" && found.lastUse == 5)
    (found.lastUse, found.replica) = (9, ReplicaID(rawValue: 77))
    found.revocation = .init(date: 8, member: numbers[0])
    try await file.onDirectory { [found] in try $0.save(found) }
    #expect(try await file.onDirectory { try $0.member(withToken: token) } == found)
    #expect(try await file.onDirectory { try $0.members(of: account) }.map(\.number) == numbers)
    #expect(try await file.onDirectory { try $0.member(withToken: [1]) } == nil)
    try await file.onDirectory { try $0.removeAccount(account) }
    #expect(try await file.onDirectory { try $0.member(withToken: token) } == nil)
  }

  @Test func anInvitationIsTakenOnceAndEnds() async throws {
    let file = try folder.open()
    let account = try await file.addAccount()
    let all = (1...3).map { HubInvitation(account: account, codeHash: [$0], end: Int64($0) * 10) }
    try await file.onDirectory { directory in for one in all { try directory.addInvitation(one) } }
    try await file.onDirectory { try $0.dropInvitations(endedBy: 10) }
    let taken = try await file.onDirectory { directory in
      try [1, 2, 2].map { try directory.takeInvitation(withCode: [$0]) }
    }
    #expect(taken == [nil, all[1], nil])
    try await file.onDirectory { try $0.removeAccount(account) }
    #expect(try await file.onDirectory { try $0.takeInvitation(withCode: [3]) } == nil)
  }
}
