// SPDX-License-Identifier: Apache-2.0
//
// One import for an application: the stores, and what their interfaces speak of.
// Not the container: its names, as `Container` and `inject`, are those of others too.

@_exported public import KeepsakeDevice
@_exported public import KeepsakeSessions
@_exported public import KeepsakeSettingsBundle
@_exported public import KeepsakeSync
@_exported public import KeepsakeValues
