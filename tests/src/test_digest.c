/* XXH3-128: the published digest of nothing, and every form against the library's own. */
#include "digest.h"

#include <xxhash.h>

#include "check_error.h"
#include "cpu.h"

static unsigned char bytes[100000];

START_TEST(every_form_agrees_with_the_library_in_any_portions)
{
    static const unsigned flags[] = {0, TENON_CPU_AVX2, TENON_CPU_AVX2 | TENON_CPU_AVX512};

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * i >> 3);
    for (size_t f = 0; f < 3; f++) {
        tenon_digest_update_fn update = tenon_digest_choose(flags[f] & tenon_cpu_detect());

        for (size_t n = 0; n < sizeof(bytes); n = n * 2 + 1) {
            XXH128_hash_t wanted = XXH3_128bits(bytes, n);
            struct tenon_digest digest;
            struct tenon_hash hash;

            tenon_digest_start(&digest);
            for (size_t at = 0; at < n;) {
                size_t part = (at * 31 + 17) % 5000 + 1;

                part = part < n - at ? part : n - at;
                update(&digest, bytes + at, part);
                at += part;
            }
            hash = tenon_digest_finish(&digest);
            ck_assert(hash.high == wanted.high64 && hash.low == wanted.low64);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("digest");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, every_form_agrees_with_the_library_in_any_portions);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
