// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues

  extension PostgresTables {
    func tombstones(
      of store: ByteText, through seq: Int64, before timestamp: HybridTimestamp, limit: Int
    ) throws -> [HubAnswer.Row] {
      var parameters = Parameters(id)
      parameters.append(store.string)
      for number in [seq, timestamp.rawValue, Int64(limit)] { parameters.append(number) }
      return try rows(try read(Self.tombstones, parameters))
    }

    func remove(_ rows: [HubAnswer.Row]) throws {
      guard !rows.isEmpty else { return }
      let addresses = rows.map(\.entry.address)
      for address in addresses { forget(address) }
      try write(Self.dropRows, addressParameters(addresses))
      // The last of a store may be among them, and then another one is.
      note(look: try read(Self.look, Parameters(id)))
    }
  }
#endif
