// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakeValues

  /// Bytes with their type.
  struct Asset: Sendable {
    let type: String
    let bytes: [UInt8]

    static let page = text("html", PackageResources.index_html)
    /// What is found at its path.
    static let named = [
      "/page.css": text("css", PackageResources.page_css),
      "/page.js": text("javascript", PackageResources.page_js),
      "/growth.js": text("javascript", PackageResources.growth_js),
      "/keys.js": text("javascript", PackageResources.keys_js),
      "/shared.js": text("javascript", PackageResources.shared_js),
      "/views.js": text("javascript", PackageResources.views_js),
    ]
    static let welcome = text(
      "html",
      Array(
        """
        <!doctype html><html lang="en"><meta charset="utf-8"><title>Keepsake</title>
        <meta http-equiv="refresh" content="0;url=/"><p><a href="/">Open the page</a></p></html>
        """.utf8))

    static func json(_ json: JSON) -> Asset {
      var bytes: [UInt8] = []
      json.write(to: &bytes)
      return Asset(type: "application/json", bytes: bytes)
    }

    private static func text(_ type: String, _ bytes: [UInt8]) -> Asset {
      Asset(type: "text/\(type); charset=utf-8", bytes: bytes)
    }
  }
#endif
