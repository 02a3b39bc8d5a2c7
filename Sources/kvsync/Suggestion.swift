// SPDX-License-Identifier: Apache-2.0

/// Which word may have been meant by a misspelt one.
enum Suggestion {
  /// - Returns: the nearest of the words; nil when none is near.
  static func nearest(to word: String, of words: [String]) -> String? {
    let near = words.map { (word: $0, distance: distance(word, $0)) }
      .min { $0.distance < $1.distance }
    guard let near, near.distance <= (word.count < 4 ? 1 : 2) else { return nil }
    return near.word
  }

  /// How many letters have to be added, left out, changed or swapped with the next: the restricted
  /// Damerau-Levenshtein distance.
  private static func distance(_ first: String, _ second: String) -> Int {
    let (a, b) = (Array(first.unicodeScalars.prefix(64)), Array(second.unicodeScalars))
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        let change = rows[i][j] + (a[i] == b[j] ? 0 : 1)
        var least = min(change, rows[i][j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
