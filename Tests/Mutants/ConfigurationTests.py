# SPDX-License-Identifier: Apache-2.0
"""Defects that ConfigurationTests must find; Scripts/mutants describes the form."""

PROVIDER_ACCOUNT = r"^ConfigurationTests\.ProviderAccountTests"
PROVIDER_CHANGE = r"^ConfigurationTests\.ProviderChangeTests"
PROVIDER_LAYER = r"^ConfigurationTests\.ProviderLayerTests"

MUTANTS = [
    ("change-of-any-account", "A provider takes a change of an account that its store has left.", PROVIDER_ACCOUNT,
     ("Sources/Configuration/StoreCopy.swift",
      "guard state.place === place else { return false }\n", "")),
    ("half-a-transaction", "A provider applies only the first change of a change set.",
     ("Sources/Configuration/StoreCopy.swift",
      "try changes.map { change in", "try changes.prefix(1).map { change in")),
    ("keeps-the-old-account", "A provider that cannot read the new account gives the old one's values.",
     PROVIDER_ACCOUNT,
     ("Sources/Configuration/StoreSnapshot.swift", "      if let failure { throw failure }\n", ""),
     ("Sources/Configuration/StoreCopy.swift",
      "(state.snapshot.values, state.snapshot.failure, state.place) = ([:], error, nil)",
      "(state.snapshot.failure, state.place) = (error, nil)")),
    ("last-provider-first", "The last provider of a layer wins.",
     ("Sources/Configuration/SettingsLayer+Providers.swift",
      "all.lazy.compactMap { $0.value(path) }.first",
      "all.reversed().lazy.compactMap { $0.value(path) }.first")),
    ("layer-waits-for-an-observer", "A switch leaves the copy of a store to the thread that calls it.", PROVIDER_ACCOUNT,
     ("Sources/Keepsake/StoreLocation.swift", "    guard let left else { return }\n    refreshCopies()\n",
      "    guard let left else { return }\n")),
    ("only-a-bare-provider", "A layer does not follow a store whose provider is within another one.", PROVIDER_ACCOUNT,
     ("Sources/Configuration/SettingsLayer+Providers.swift", "for copy in asked.all {",
      "for copy in asked.all where provider is KeepsakeProvider {")),
    ("reads-each-time", "Each look-up reads the file.", PROVIDER_CHANGE,
     ("Sources/Configuration/StoreCopy.swift", "layers == store.layersVersion ||", "layers < 0 ||")),
    ("watch-tells-its-error",
     "The report of a failed watch contains the provider's error, which may contain a value.", PROVIDER_LAYER,
     ("Sources/Configuration/SettingsLayer+Providers.swift",
      r"an error of type \(type(of: error))", r"\(error)")),
]
