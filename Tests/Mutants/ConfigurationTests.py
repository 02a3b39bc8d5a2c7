# SPDX-License-Identifier: Apache-2.0
"""Defects that ConfigurationTests must find; Scripts/mutants describes the form."""

PROVIDER_CHANGE = r"^ConfigurationTests\.ProviderChangeTests"
PROVIDER_LAYER = r"^ConfigurationTests\.ProviderLayerTests"

MUTANTS = [
    ("last-provider-first", "The last provider of a layer wins.",
     ("Sources/Configuration/SettingsLayer+Providers.swift",
      "all.lazy.compactMap { $0.value(path) }.first",
      "all.reversed().lazy.compactMap { $0.value(path) }.first")),
    ("watch-tells-its-error",
     "The report of a failed watch contains the provider's error, which may contain a value.", PROVIDER_LAYER,
     ("Sources/Configuration/SettingsLayer+Providers.swift",
      r"an error of type \(type(of: error))", r"\(error)")),
]
