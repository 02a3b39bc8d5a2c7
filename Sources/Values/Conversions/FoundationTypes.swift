// SPDX-License-Identifier: Apache-2.0
//
// Date, Data and URL for this module and its importers. On Linux they are in a module without
// Foundation's locale data, on Apple's systems in Foundation.

#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
