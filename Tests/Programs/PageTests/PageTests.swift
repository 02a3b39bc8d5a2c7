// SPDX-License-Identifier: Apache-2.0

#if Page
  import Foundation
  import TestSupport
  import Testing

  /// Each thing that the page does, in a browser.
  @Suite(.serialized, .enabled(if: Browser.isPossible, Browser.need)) struct PageTests {
    @Test func aSearchOfManyKeysFollowsTypingAndTheKeyboard() throws {
      let page = try OpenPage()
      let lines = (0..<100_000).map {
        #"{"store":"cloud","key":"key.\#($0)","type":"integer","value":\#($0)}"#
      }
      try page.lines(lines.joined(separator: "\n"))
      try page.kvsync("import", "a", "lines")
      try page.open("a")
      let browser = try Browser(page)
      try browser.until("$$('#count') == '100,000 keys'")
      try browser.press("/")
      try browser.type("Y.9999", into: "#query")
      try browser.until("$$('#count') == '11 keys'")
      #expect(try browser.run("return document.querySelectorAll('#rows .row').length;") == "11")
      try browser.type("no such key", into: "#query")
      try browser.until("$$('#count') == '0 keys'")
      try browser.choose("", in: "#query")
      try browser.until("$$('#count') == '100,000 keys'")
      // Only what is in sight is in the page, to the end of the list.
      try browser.run("document.querySelector('#list').focus();")
      try browser.press("End")
      try browser.until("$$('#row-99999 .key').startsWith('key.99999')")
      #expect(try browser.run("return document.querySelectorAll('#rows .row').length < 60;") == "1")
      try browser.press("Enter")
      try browser.until("$$('#value') == '99999'")
      #expect(try browser.run("return document.activeElement.id;") == "detail")
      try browser.close()
    }

    @Test func aKeyShowsItsLayersAndAHostileValueIsText() throws {
      let page = try OpenPage()
      let owns = "document.title='owned'"
      let hostile = "<script>\(owns)</script><img src=x onerror=\"\(owns)\">"
      try page.kvsync("set", "a", "<b>key</b>", hostile)
      try page.kvsync("set", "a", "control", "a\u{1}b\u{202E}c\u{7f}")
      let long = String(repeating: "long ", count: 200_000)
      try page.lines(#"{"store":"cloud","key":"long","type":"string","value":"\#(long)"}"#)
      try page.kvsync("import", "a", "lines")
      try page.open("a")
      let browser = try Browser(page)
      try browser.click("#row-0")
      try browser.until("$$('#value').length > 0")
      #expect(try browser.text(of: "#value") == hostile)
      #expect(try browser.text(of: "#detail h2") == "<b>key</b>")
      #expect(try browser.text(of: "#detail td").hasPrefix("entry"))
      try browser.click("#row-1")
      try browser.until("$$('#value') == 'a\\\\u{1}b\\\\u{202e}c\\\\u{7f}'")
      try browser.click("#row-2")
      try browser.until("document.querySelector('#value').textContent.length == 1000000")
      let elements = "return document.querySelectorAll('main script, img').length;"
      #expect(try browser.run(elements) == "0")
      #expect(try browser.run("return document.title;") == "Keepsake")
      try browser.close()
    }

    @Test func whatAnotherProcessChangesShowsAsItHappens() throws {
      let page = try OpenPage()
      try page.kvsync("set", "a", "theme", "dark")
      try page.open("a")
      let browser = try Browser(page)
      try page.kvsync("set", "a", "theme", "light")
      try browser.until("$$('#row-0 .value') == 'light'")
      try page.kvsync("set", "a", "zoom", "2", "--type", "integer")
      try browser.until("$$('#count') == '2 keys' && $$('#row-1 .value') == '2'")
      try browser.click("#tab-changes")
      try browser.until("document.querySelectorAll('#changes tbody tr').length == 2")
      #expect(try browser.text(of: "#changes tbody tr:last-child").contains("dark\tlight"))
      try page.kvsync("delete", "a", "zoom")
      try browser.until("document.querySelectorAll('#changes tbody tr').length == 3")
      // When kvsync has ended, the page says so.
      #expect(page.close() == 0)
      try browser.until("$$('#live') == 'not connected'")
      try browser.click("#tab-peers")
      try browser.until("$$('#message').startsWith('kvsync open does not answer')")
      try browser.close()
    }

    @Test func anEditIsCheckedByItsType() throws {
      let page = try OpenPage()
      try page.kvsync("set", "a", "size", "12", "--type", "integer")
      try page.open("a", "--edit")
      let browser = try Browser(page)
      try browser.click("#row-0")
      try browser.type("large", into: "#edit-value")
      try browser.click("#save")
      try browser.until("$$('#message').startsWith('the value is not of type integer')")
      #expect(try page.kvsync("get", "a", "size") == "12\n")
      try browser.type("13", into: "#edit-value")
      try browser.click("#save")
      try browser.until("$$('#value') == '13'")
      #expect(try page.kvsync("get", "a", "size") == "13\n")
      try browser.click("#delete")
      try browser.until("$$('#count') == '0 keys'")
      try browser.close()
    }

    @Test func aValueThatIsShownAndSavedStaysTheSame() throws {
      let page = try OpenPage()
      let map = #"{"a":9007199254740993,"b":5.0,"c":{"d":["{\"}",[],{}]}}"#
      try page.lines(#"{"store":"cloud","key":"map","type":"dictionary","value":\#(map)}"#)
      try page.kvsync("import", "a", "lines")
      try page.open("a", "--edit")
      let browser = try Browser(page)
      try browser.click("#row-0")
      let lines = """
        {
          "a": 9007199254740993,
          "b": 5.0,
          "c": {
            "d": [
              "{\\"}",
              [],
              {}
            ]
          }
        }
        """
      try browser.until("$$('#value').length > 0")
      #expect(try browser.text(of: "#value") == lines)
      #expect(try browser.run("return document.querySelector('#edit-value').value;") == lines)
      #expect(try browser.text(of: "#detail td:nth-child(2)") == map)
      try browser.click("#save")
      try browser.until("document.activeElement.id == 'detail'")
      #expect(try page.kvsync("get", "a", "map") == map + "\n")
      try browser.close()
    }

    @Test func whatIsEditedStaysWhenTheValueChangesElsewhere() throws {
      let page = try OpenPage()
      try page.kvsync("set", "a", "name", "first")
      try page.kvsync("set", "a", "other", "x")
      try page.open("a", "--edit")
      let browser = try Browser(page)
      let written = "return document.querySelector('#edit-value').value;"
      try browser.click("#row-0")
      try browser.type("mine", into: "#edit-value")
      try browser.run("document.activeElement.blur();")
      try page.kvsync("set", "a", "name", "theirs")
      try browser.until("$$('#value') == 'theirs'")
      #expect(try browser.run(written) == "mine")
      #expect(try browser.text(of: "#elsewhere").hasPrefix("The value has changed elsewhere"))
      try browser.click("#row-1")
      try browser.until("$$('#message').startsWith('What you wrote is not saved')")
      #expect(try browser.run(written) == "mine")
      try browser.click("#save")
      try browser.until("$$('#message').startsWith('the key was written meanwhile')")
      #expect(try page.kvsync("get", "a", "name") == "theirs\n")
      try browser.click("#keep")
      try browser.click("#save")
      try browser.until("$$('#value') == 'mine'")
      #expect(try page.kvsync("get", "a", "name") == "mine\n")
      // Saved, nothing holds it any more.
      try browser.click("#row-1")
      try browser.until("$$('#value') == 'x'")
      // The user has to confirm that it is dropped.
      try browser.type("dropped", into: "#edit-value")
      try browser.press("Escape")
      try browser.until("$$('#message').startsWith('What you wrote is not saved')")
      try browser.click(".back")
      try browser.until("document.querySelector('#detail').hidden")
      #expect(try browser.run("return document.activeElement.id;") == "list")
      try browser.close()
    }

    @Test func whatWasCommittedBeforeThePageHearsOfChangesIsRead() throws {
      let page = try OpenPage()
      try page.kvsync("set", "a", "theme", "dark")
      try page.open("a")
      let browser = try Browser(page)
      try browser.until(
        "performance.getEntriesByType('resource').filter(e => e.name.endsWith('state?device=0'))"
          + ".length > 1")
      try browser.close()
    }

    @Test func aConflictShowsBothSidesAndTheLostOneIsRestored() throws {
      let page = try OpenPage()
      let file = try page.makeConflict()
      try page.open("a", "b", "--edit")
      let browser = try Browser(page)
      try browser.choose(file == "a" ? "0" : "1", in: "#device")
      try browser.click("#tab-conflicts")
      try browser.until("$$('#conflicts .sides').length > 0")
      #expect(try browser.text(of: "#conflicts .sides > :first-child pre") == "lost")
      #expect(try browser.text(of: "#conflicts .sides > :last-child pre") == "won")
      try browser.click("#conflicts .restore")
      try browser.until("$$('#conflicts .good') == 'resolved'")
      #expect(try page.kvsync("get", file, "name") == "lost\n")
      try browser.close()
    }

    @Test func aMergeIsShownBeforeItIsMadeAndPeersAndDoctorAreTold() throws {
      let page = try OpenPage()
      try page.kvsync("set", "a", "theme", "dark")
      try page.kvsync("merge", "a", "b", "--create")
      try page.kvsync("set", "a", "theme", "light")
      try page.open("a", "b", "--edit")
      let browser = try Browser(page)
      try browser.until("document.querySelector('#growth .bar')")
      try browser.click("#tab-peers")
      try browser.until("$$('#peers').includes('1 wait for it')")
      try browser.click("#tab-merge")
      try browser.click("#dry-run")
      try browser.until("$$('#merged tbody') == 'b\\ttheme cloud\\tdark\\tlight'")
      #expect(try page.kvsync("get", "b", "theme") == "dark\n")
      try browser.click("#merge-now")
      try browser.until("$$('#merged').startsWith('All files hold the same.')")
      #expect(try page.kvsync("get", "b", "theme") == "light\n")
      try browser.click("#tab-peers")
      try browser.until("$$('#peers').includes('has all')")
      try browser.click("#tab-doctor")
      try browser.click("#examine")
      try browser.until("$$('#findings').includes('Nothing is wrong.')")
      try browser.close()
    }
  }
#endif
