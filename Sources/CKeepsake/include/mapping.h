// SPDX-License-Identifier: Apache-2.0

#ifndef KEEPSAKE_MAPPING_H
#define KEEPSAKE_MAPPING_H

/// Maps a page of a shared mapping a second time, so that it outlives the first.
///
/// - Parameter page: the first byte of a page of a shared mapping.
/// - Returns: NULL when the system refuses, with the reason in errno.
const void *_Nullable keepsake_map_again(void *_Nonnull page);

/// Unmaps a page that `keepsake_map_again` has returned.
void keepsake_unmap(const void *_Nonnull page);

#endif
