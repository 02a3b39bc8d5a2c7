// SPDX-License-Identifier: Apache-2.0
//
// Sends requests with libcurl, which Foundation for Linux uses, too. Its functions are looked up in
// the process, so a build needs neither its headers nor its library.

#pragma once

#include <stdbool.h>
#include <stddef.h>

/// A request, and the callbacks for its answer.
struct keepsake_curl_request {
  const char *url;
  const char *method;
  /// Whether libcurl may use a proxy that the environment names.
  bool may_use_proxy;
  /// Lines; the last one is NULL.
  const char *const *headers;
  const void *body;
  size_t body_count;
  void *context;
  /// Receive each line of the head, and pieces of the body; another result than the number of bytes
  /// ends the request.
  size_t (*on_header_line)(char *bytes, size_t size, size_t count, void *context);
  size_t (*on_body)(char *bytes, size_t size, size_t count, void *context);
  /// Called each second, and when bytes move; true ends the request.
  bool (*is_abandoned)(void *context);
};

/// Whether this process has libcurl.
bool keepsake_curl_is_available(void);

/// A handle for one request at a time, which keeps connections; NULL if there is no memory.
void *keepsake_curl_open(void);
void keepsake_curl_close(void *handle);

/// Sends a request, and blocks until it ends. It follows no redirect.
///
/// Returns NULL, or the reason of a failure: in `message`, which has 256 bytes, or a constant.
const char *keepsake_curl_run(
    void *handle, const struct keepsake_curl_request *request, char *message);
