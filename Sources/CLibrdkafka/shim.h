#ifndef GRANTOR_CLIBRDKAFKA_SHIM_H
#define GRANTOR_CLIBRDKAFKA_SHIM_H

#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <librdkafka/rdkafka.h>
// The mock cluster is a public but experimental header; the test kit is built on it.
#include <librdkafka/rdkafka_mock.h>

// Swift's Glibc module leaves sys/eventfd.h out.
static inline int grantor_eventfd(void) {
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

// Variadic, which Swift cannot call: names the calling thread for debuggers.
static inline void grantor_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

// Variadic, which Swift cannot call: one error with its round-trip time at a time.
static inline rd_kafka_resp_err_t grantor_mock_push_error_rtt(
    rd_kafka_mock_cluster_t *cluster, int32_t broker_id, int16_t api_key, rd_kafka_resp_err_t error, int rtt_ms) {
    return rd_kafka_mock_broker_push_request_error_rtts(cluster, broker_id, api_key, 1, error, rtt_ms);
}

#endif
