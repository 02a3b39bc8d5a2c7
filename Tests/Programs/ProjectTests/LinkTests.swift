// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `Scripts/links`, which `Scripts/docs` runs too.
@Suite struct LinkTests {
  /// Runs it in a folder that has these files and goes with them.
  private func check(_ arguments: String..., of files: [String: String] = [:]) throws -> Ending {
    let folder = try Folder()
    for (path, text) in files { try folder.write(text, to: path) }
    return try Command.run(Checkout.path("Scripts/links"), arguments, in: folder.path)
  }

  @Test func everyLinkOfThisProjectLeadsSomewhere() throws {
    #expect(try check(Project.root.path) == Ending())
  }

  @Test func aFileAHeadingAndAnAddressMustBeThere() throws {
    let files = [
      "README.md": """
        # Read me, please
        [a](sub/a.md) [b](sub/a.md#how-it-goes) [c](#read-me-please) [d] <https://example.org>
        [e](b.md) [f](sub/a.md#no) `[g](code.md)`

        ```
        [h](code.md)
        ```
        [i](http://example.org) <doc:Page> [j](https://localhost/x)

        [d]: https://example.org/a
        [k]: c.md
        """,
      "sub/a.md": "# A\n\n## How it goes\n[up](../README.md)\n",
    ]
    let wrong = """
      ./README.md:3: b.md: there is no such file
      ./README.md:3: sub/a.md#no: sub/a.md has no such heading
      ./README.md:8: http://example.org: is no address of the form https://host.domain/…
      ./README.md:8: doc:Page: works in the site alone; link to the file
      ./README.md:8: https://localhost/x: is no address of the form https://host.domain/…
      ./README.md:11: c.md: there is no such file

      """
    #expect(try check(".", of: files) == Ending(stdout: wrong, code: 1))
  }

  @Test func aLinkOfASiteLeadsToAPageOfIt() throws {
    func page(_ links: String...) -> String {
      let references = links.map { #""\#($0)": {"type": "link", "url": "\#($0)"}"# }
      return #"{"references": {\#(references.joined(separator: ", "))}}"#
    }
    let files = [
      "site/data/documentation/a.json": page("/documentation/b/c(_:)#Overview", "B.md"),
      "site/data/documentation/b/c(_:).json": page("https://example.org", "/documentation/d"),
    ]
    let wrong = """
      site/data/documentation/a.json: B.md: is neither a page of the site nor on the web
      site/data/documentation/b/c(_:).json: /documentation/d: there is no such page

      """
    #expect(try check(".", "site", of: files) == Ending(stdout: wrong, code: 1))
    #expect(try check(".", "none") == Ending(stdout: "none: has no pages\n", code: 1))
  }
}
