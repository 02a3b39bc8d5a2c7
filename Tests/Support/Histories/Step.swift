// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// One thing that happens in a history. Devices are named by their place, from 0; of a history with
/// a hub that is the hub's, which only meets one device at a time, and is saved and restored.
package indirect enum Step: Sendable, Equatable {
  /// A device writes, or, without a value, deletes.
  case write(Int, Address, StoredValue?)
  case meet(Encounter)
  /// Time goes on, for all clocks that do not stand still.
  case pass(milliseconds: Int64)
  /// A clock jumps.
  case skew(Int, milliseconds: Int64)
  /// A clock stands still.
  case freeze(Int)
  /// It goes on, from where it stood.
  case thaw(Int)
  /// Keeps a copy of a device's file under a number.
  case save(Int, as: Int)
  /// Puts a copy that was kept in place of a device's file; the clock stays as it is.
  case restore(Int, from: Int)
  /// `cp` of one device's file over another's.
  case copy(Int, over: Int)
  /// Collects tombstones.
  case compact(Int)
  /// The first device no longer waits for the second.
  case retire(Int, Int)
  /// All handles on a file are closed, and it is opened again.
  case reopen(Int)
}

/// A merge of some devices.
package struct Encounter: Sendable, Equatable {
  package var places: [Int]
  package var isOneWay = false
  /// Exactly these stores; nil for all that travel.
  package var stores: [String]?
  /// Number, from 0, of the commit that fails: the exchange ends there, and what was committed
  /// before stays.
  package var crash: Int?
  package var during: During?
  /// What goes wrong on the way to a hub.
  package var fault: Fault?

  package init(_ places: [Int]) {
    self.places = places
  }

  /// What happens to one request.
  package struct Fault: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
      /// The request is lost, or its answer is.
      case request, answer
      /// It comes twice.
      case double
      /// It comes after the next exchange with the hub.
      case late
    }
    package var kind: Kind
    /// From 0.
    package var number: Int
  }

  /// What happens in the middle.
  package struct During: Sendable, Equatable {
    /// How many transactions have read before; of an exchange with a hub, how many requests it has
    /// answered.
    package var after: Int
    /// A write, a copy that is kept, or, with a hub, another device's exchange with it.
    package var step: Step
  }
}

extension Step {
  /// The devices that it is about; nil for all.
  var places: [Int]? {
    switch self {
    case .write(let place, _, _), .skew(let place, _), .freeze(let place), .thaw(let place),
      .save(let place, _), .restore(let place, _), .compact(let place), .reopen(let place):
      [place]
    case .copy(let place, let other), .retire(let place, let other): [place, other]
    case .meet(let encounter): encounter.places + (encounter.during?.step.places ?? [])
    case .pass: nil
    }
  }
}
