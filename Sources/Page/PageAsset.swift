// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakeValues

  /// The bytes of a file or an answer, with their type.
  struct PageAsset: Sendable {
    let type: String
    let bytes: [UInt8]

    static let page = text("html", PackageResources.index_html)
    /// The files by their paths.
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

    static func json(_ json: JSON) -> PageAsset {
      var bytes: [UInt8] = []
      json.write(to: &bytes)
      return PageAsset(type: "application/json", bytes: bytes)
    }

    private static func text(_ type: String, _ bytes: [UInt8]) -> PageAsset {
      PageAsset(type: "text/\(type); charset=utf-8", bytes: bytes)
    }
  }
#endif
