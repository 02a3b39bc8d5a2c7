// SPDX-License-Identifier: Apache-2.0
//
// The snippets of the module's article, to the letter; a project test compares them.

import KeepsakeDevice
import KeepsakeHub
import KeepsakeSync

private func keep(_ token: String) throws {}
private func askToJoinAgain() {}
private func log(_ line: String) {}

func join(with code: String) throws {
  let url = try HubURL("https://hub.example")
  let membership = try HubMembership.join(at: url, code: code, name: "Laptop")
  try keep(membership.token)  // in the Keychain, or in a file that its user alone can read
}

func stayMet(_ device: Device, _ url: HubURL, _ token: String) throws -> HubSession {
  let session = HubSession(device, try Hub(url, token: token)) { state in
    if case .refused = state { askToJoinAgain() }
  } onFailure: { error in
    log("\(error)")
  }
  return session
}
