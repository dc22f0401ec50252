#ifndef GRANTOR_CLIBRDKAFKA_SHIM_H
#define GRANTOR_CLIBRDKAFKA_SHIM_H

#include <stdint.h>
#include <librdkafka/rdkafka.h>
// The mock cluster is a public but experimental header; kafka-mock is built on it.
#include <librdkafka/rdkafka_mock.h>

#endif
