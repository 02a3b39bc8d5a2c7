// SPDX-License-Identifier: Apache-2.0

// Other systems use URLSession, and compile this file all the same.
#ifdef __linux__

#define _GNU_SOURCE
#include "ccurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

// From https://curl.se/libcurl/c/symbols-in-versions.html; the numbers never change.
enum {
  OPTION_NO_PROGRESS = 43,
  OPTION_POST = 47,
  OPTION_CONNECT_TIMEOUT = 78,
  OPTION_HTTP_GET = 80,
  OPTION_NO_SIGNAL = 99,
  OPTION_PROTOCOLS = 181,
  OPTION_TCP_KEEPALIVE = 213,
  OPTION_SUPPRESS_CONNECT_HEADERS = 265,
  OPTION_WRITE_DATA = 10001,
  OPTION_URL = 10002,
  OPTION_PROXY = 10004,
  OPTION_ERROR_BUFFER = 10010,
  OPTION_POST_FIELDS = 10015,
  OPTION_HTTP_HEADER = 10023,
  OPTION_HEADER_DATA = 10029,
  OPTION_CUSTOM_REQUEST = 10036,
  OPTION_ACCEPT_ENCODING = 10102,
  OPTION_PROGRESS_DATA = 10057,
  OPTION_WRITE_FUNCTION = 20011,
  OPTION_HEADER_FUNCTION = 20079,
  OPTION_PROGRESS_FUNCTION = 20219,
  OPTION_POST_FIELD_SIZE = 30120,
};

static struct {
  int (*global_init)(long flags);
  void *(*easy_init)(void);
  void (*easy_reset)(void *);
  void (*easy_cleanup)(void *);
  int (*easy_setopt)(void *, int, ...);
  int (*easy_perform)(void *);
  const char *(*easy_strerror)(int);
  void *(*slist_append)(void *, const char *);
  void (*slist_free_all)(void *);
} curl;

static bool is_available;

static void *find(const char *name) {
  void *function = dlsym(RTLD_DEFAULT, name);
  if (function == NULL) is_available = false;
  return function;
}

static void load(void) {
  is_available = true;
  curl.global_init = find("curl_global_init");
  curl.easy_init = find("curl_easy_init");
  curl.easy_reset = find("curl_easy_reset");
  curl.easy_cleanup = find("curl_easy_cleanup");
  curl.easy_setopt = find("curl_easy_setopt");
  curl.easy_perform = find("curl_easy_perform");
  curl.easy_strerror = find("curl_easy_strerror");
  curl.slist_append = find("curl_slist_append");
  curl.slist_free_all = find("curl_slist_free_all");
  // 3 is CURL_GLOBAL_ALL.
  if (is_available) is_available = curl.global_init(3) == 0;
}

bool keepsake_curl_is_available(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_available;
}

// Older versions of libcurl use write(2) even if the peer has closed the connection: SIGPIPE would
// end the program.
static bool block_pipe_signal(sigset_t *pipe, sigset_t *before) {
  sigset_t pending;
  sigemptyset(pipe);
  sigaddset(pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, pipe, before);
  return sigismember(&pending, SIGPIPE) == 1;
}

static void restore_pipe_signal(bool was_pending, sigset_t *pipe, sigset_t *before) {
  struct timespec none = {0, 0};
  if (!was_pending) while (sigtimedwait(pipe, NULL, &none) == -1 && errno == EINTR) {}
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

void *keepsake_curl_open(void) { return curl.easy_init(); }

void keepsake_curl_close(void *handle) {
  sigset_t pipe, before;
  bool was_pending = block_pipe_signal(&pipe, &before);
  curl.easy_cleanup(handle);
  restore_pipe_signal(was_pending, &pipe, &before);
}

static int on_progress(
    void *context, long long to_get, long long got, long long to_send, long long sent) {
  const struct keepsake_curl_request *request = context;
  (void)to_get, (void)got, (void)to_send, (void)sent;
  return request->is_abandoned(request->context);
}

const char *keepsake_curl_run(
    void *handle, const struct keepsake_curl_request *request, char *message) {
  void *lines = NULL;
  for (const char *const *line = request->headers; *line != NULL; line++) {
    void *longer = curl.slist_append(lines, *line);
    if (longer == NULL) {
      curl.slist_free_all(lines);
      return "no memory for a request";
    }
    lines = longer;
  }
  message[0] = 0;
  curl.easy_reset(handle);
  curl.easy_setopt(handle, OPTION_ERROR_BUFFER, message);
  curl.easy_setopt(handle, OPTION_NO_SIGNAL, 1L);
  // HTTP and HTTPS.
  curl.easy_setopt(handle, OPTION_PROTOCOLS, 3L);
  curl.easy_setopt(handle, OPTION_TCP_KEEPALIVE, 1L);
  // Seconds. A request with a body would wait longer for a hub that vanished.
  curl.easy_setopt(handle, OPTION_CONNECT_TIMEOUT, 30L);
  // A proxy before the hub may compress. libcurl without zlib refuses the option, and asks for none.
  curl.easy_setopt(handle, OPTION_ACCEPT_ENCODING, "gzip");
  // The headers of a proxy's answer to CONNECT are not the hub's.
  curl.easy_setopt(handle, OPTION_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!request->may_use_proxy) curl.easy_setopt(handle, OPTION_PROXY, "");
  curl.easy_setopt(handle, OPTION_URL, request->url);
  if (request->body != NULL) {
    curl.easy_setopt(handle, OPTION_POST, 1L);
    curl.easy_setopt(handle, OPTION_POST_FIELDS, request->body);
    curl.easy_setopt(handle, OPTION_POST_FIELD_SIZE, (long long)request->body_count);
  } else {
    curl.easy_setopt(handle, OPTION_HTTP_GET, 1L);
  }
  curl.easy_setopt(handle, OPTION_CUSTOM_REQUEST, request->method);
  curl.easy_setopt(handle, OPTION_HTTP_HEADER, lines);
  curl.easy_setopt(handle, OPTION_HEADER_FUNCTION, request->on_header_line);
  curl.easy_setopt(handle, OPTION_HEADER_DATA, request->context);
  curl.easy_setopt(handle, OPTION_WRITE_FUNCTION, request->on_body);
  curl.easy_setopt(handle, OPTION_WRITE_DATA, request->context);
  curl.easy_setopt(handle, OPTION_PROGRESS_FUNCTION, on_progress);
  curl.easy_setopt(handle, OPTION_PROGRESS_DATA, request);
  curl.easy_setopt(handle, OPTION_NO_PROGRESS, 0L);
  sigset_t pipe, before;
  bool was_pending = block_pipe_signal(&pipe, &before);
  int code = curl.easy_perform(handle);
  restore_pipe_signal(was_pending, &pipe, &before);
  // The handle must not keep pointers that end with this call.
  curl.easy_reset(handle);
  curl.slist_free_all(lines);
  if (code == 0) return NULL;
  return message[0] != 0 ? message : curl.easy_strerror(code);
}

#endif
