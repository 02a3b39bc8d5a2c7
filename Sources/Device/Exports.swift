// SPDX-License-Identifier: Apache-2.0
//
// The API of this module uses public types of the storage: `KeepsakeError` and `Durability`.

@_exported public import KeepsakeStorage
