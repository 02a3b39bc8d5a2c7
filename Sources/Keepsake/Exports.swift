// SPDX-License-Identifier: Apache-2.0
//
// `import Keepsake` is all that an application needs: it exports the modules whose types the stores
// use. Not `KeepsakeInjection`: other libraries also have names such as `Container` and `inject`.

@_exported public import KeepsakeDevice
@_exported public import KeepsakeSessions
@_exported public import KeepsakeSettingsBundle
@_exported public import KeepsakeSync
@_exported public import KeepsakeValues
