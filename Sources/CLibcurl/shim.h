#ifndef GRANTOR_CLIBCURL_SHIM_H
#define GRANTOR_CLIBCURL_SHIM_H

// The type-checking macros want literal options; the shims below pass variables and are checked by their own types.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <openssl/ssl.h>

// curl_easy_setopt is variadic, which Swift cannot call: one function per type that an option can have.
static inline CURLcode grantor_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode grantor_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode grantor_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode grantor_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode grantor_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode grantor_easy_set_write_callback(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode grantor_easy_set_prerequest_callback(
    CURL *easy, curl_prereq_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PREREQDATA, context) : code;
}

// The first is called for each socket that is made, the second in place of close(2).
static inline CURLcode grantor_easy_set_socket_callbacks(
    CURL *easy, curl_sockopt_callback made, curl_closesocket_callback closing, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, made);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, closing);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context) : code;
}

static inline CURLcode grantor_give_buffers_back(CURL *easy, void *context, void *unused) {
    (void)easy;
    (void)unused;
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    return CURLE_OK;
}

// Connections give OpenSSL's buffers back while nothing is in them, as libcurl 7.88 has them do by itself.
static inline CURLcode grantor_easy_give_buffers_back(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, grantor_give_buffers_back);
}

// curl_easy_getinfo is variadic, too. A value that cannot be had reads as zero.
static inline long grantor_easy_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t grantor_easy_get_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline void *grantor_easy_get_private(CURL *easy) {
    char *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

// OpenSSL's side of the transfer's connection; NULL for a plain one. Only within a callback: a transfer has a connection
// no sooner and no longer.
static inline SSL *grantor_easy_tls(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

// Whether OpenSSL has received something on the transfer's connection that nobody has read. Only within a callback.
// libcurl itself looks no further than the socket.
static inline int grantor_easy_has_unread(CURL *easy) {
    SSL *tls = grantor_easy_tls(easy);
    return tls != NULL && SSL_has_pending(tls);
}

// curl_multi_setopt is variadic, too.
static inline CURLMcode grantor_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode grantor_multi_set_socket_callback(CURLM *multi, curl_socket_callback callback, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context) : code;
}

static inline CURLMcode grantor_multi_set_timer_callback(
    CURLM *multi, curl_multi_timer_callback callback, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context) : code;
}

// The result is a member of a union that Swift would reach only by reinterpreting memory.
static inline CURLcode grantor_message_result(const CURLMsg *message) {
    return message->data.result;
}

#endif
