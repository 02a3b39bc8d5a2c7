// SPDX-License-Identifier: Apache-2.0
//
// Date, Data and URL for this module and its importers. Linux has them in a module without
// Foundation's locale data; Apple's systems have them in Foundation.

#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
