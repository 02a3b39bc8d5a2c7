// SPDX-License-Identifier: Apache-2.0
//
// One import for an application: the stores, and what their interfaces speak of.

@_exported public import KeepsakeDevice
@_exported public import KeepsakeInjection
@_exported public import KeepsakeSettingsBundle
@_exported public import KeepsakeSync
@_exported public import KeepsakeValues
