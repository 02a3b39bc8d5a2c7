// SPDX-License-Identifier: Apache-2.0
//
// The snippets of the module's article, to the letter; a project test compares them.

import KeepsakeDevice
import KeepsakeHub
import KeepsakeSync

private func keep(_ membership: HubMembership) throws {}
private func askToJoinAgain() {}
private func log(_ line: String) {}

func join(with code: String) throws {
  let url = try HubURL("https://hub.example")
  var membership = try HubMembership(invitation: code)
  try keep(membership)  // in the Keychain, or in a file that its user alone can read
  try membership.join(at: url, code: code, name: "Laptop")
}

func staySynced(_ device: Device, _ url: HubURL, _ membership: HubMembership) -> HubSession {
  HubSession(device, Hub(url, membership)) { state in
    if case .refused = state { askToJoinAgain() }
  } onSync: { _ in
  } onFailure: { error in
    log("\(error)")
  }
}
