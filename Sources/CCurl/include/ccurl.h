// SPDX-License-Identifier: Apache-2.0
//
// Requests by libcurl, which Foundation for Linux makes its own by. It is found in the process, so
// who builds needs neither its headers nor its library.

#pragma once

#include <stdbool.h>
#include <stddef.h>

/// What is sent, and who gets what comes back.
struct keepsake_curl_request {
  const char *url;
  const char *method;
  /// Whether libcurl may use a proxy that the environment names.
  bool may_take_proxy;
  /// Lines; the last one is NULL.
  const char *const *headers;
  const void *body;
  size_t body_count;
  void *context;
  /// Gets each line of the head, and pieces of the body; another number than the count ends it.
  size_t (*take_head)(char *bytes, size_t size, size_t count, void *context);
  size_t (*take_body)(char *bytes, size_t size, size_t count, void *context);
  /// Is called each second, and when bytes move; true ends the request.
  bool (*is_over)(void *context);
};

/// Whether this process has libcurl.
bool keepsake_curl_is_there(void);

/// A handle for one request at a time, which keeps connections; NULL where there is no memory.
void *keepsake_curl_open(void);
void keepsake_curl_close(void *handle);

/// Makes a request, until it is over. It follows no redirect.
///
/// Returns NULL, or why it failed: a text in `words`, which has 256 bytes, or a constant.
const char *keepsake_curl_run(
    void *handle, const struct keepsake_curl_request *request, char *words);
