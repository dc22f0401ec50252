#ifndef GRANTOR_CLIBPQ_SHIM_H
#define GRANTOR_CLIBPQ_SHIM_H

#include <libpq-fe.h>

#endif
