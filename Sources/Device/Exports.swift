// SPDX-License-Identifier: Apache-2.0
//
// Who uses a device reads the errors, and names the uses, of its storage.

@_exported public import KeepsakeStorage
