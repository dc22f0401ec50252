#ifndef GRANTOR_CLIBGMP_SHIM_H
#define GRANTOR_CLIBGMP_SHIM_H

#include <gmp.h>

// GMP's names are macros, which Swift does not see.
static inline void grantor_integer_init(mpz_ptr integer) { mpz_init2(integer, 512); }
static inline void grantor_integer_clear(mpz_ptr integer) { mpz_clear(integer); }

static inline void grantor_integer_read(mpz_ptr integer, const void *bigEndian, size_t count) {
    mpz_import(integer, count, 1, 1, 1, 0, bigEndian);
}

// GMP says that 0 has one digit, and writes none.
static inline size_t grantor_integer_bytes(mpz_srcptr integer) {
    return mpz_sgn(integer) == 0 ? 0 : (mpz_sizeinbase(integer, 2) + 7) / 8;
}

// Without leading zeros; the caller has room for grantor_integer_bytes.
static inline void grantor_integer_write(mpz_srcptr integer, void *bigEndian) {
    mpz_export(bigEndian, NULL, 1, 1, 1, 0, integer);
}

static inline int grantor_integer_is_zero(mpz_srcptr integer) { return mpz_sgn(integer) == 0; }
static inline int grantor_integer_compare(mpz_srcptr one, mpz_srcptr other) { return mpz_cmp(one, other); }

// 0 when there is none.
static inline int grantor_integer_inverse(mpz_ptr result, mpz_srcptr integer, mpz_srcptr modulus) {
    return mpz_invert(result, integer, modulus);
}

static inline void grantor_integer_multiply(mpz_ptr result, mpz_srcptr one, mpz_srcptr other, mpz_srcptr modulus) {
    mpz_mul(result, one, other);
    mpz_mod(result, result, modulus);
}

#endif
