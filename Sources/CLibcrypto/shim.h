#ifndef GRANTOR_CLIBCRYPTO_SHIM_H
#define GRANTOR_CLIBCRYPTO_SHIM_H

// EC_GROUP_precompute_mult is marked as deprecated since 3.0 and has no successor; see docs/decisions/0015.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/obj_mac.h>

#endif
