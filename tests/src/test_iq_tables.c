/* The lattices of the IQ types against checksums of ggml's tables, expanded to signed bytes. */
#include "blocks.h"
#include "check_error.h"
#include "dtype/iq_tables.h"

static const int8_t iq1_alphabet[4] = {-1, 0, 1, 0};

/* The checksums were taken from the values that ggml 0.25.1 decodes. */
static const struct {
    const uint16_t *rows;
    int n_rows, width, bits;
    const int8_t *alphabet;
    uint32_t expanded_crc, packed_crc;
} lattices[] = {
    {tenon_iq2_xxs_rows, 256, 8, 2, tenon_iq2_alphabet, 0x9924ff02, 0xd01c53f2},
    {tenon_iq2_xs_rows, 512, 8, 2, tenon_iq2_alphabet, 0xfa1e1bfd, 0x622e679a},
    {tenon_iq2_s_rows, 1024, 8, 2, tenon_iq2_alphabet, 0x25ae5bf1, 0xf8ad4e5e},
    {tenon_iq3_xxs_rows, 256, 4, 3, tenon_iq3_xxs_alphabet, 0x07ba9ed0, 0xf68a6a07},
    {tenon_iq3_s_rows, 512, 4, 3, tenon_iq3_s_alphabet, 0xf576e4f3, 0xa43c1089},
    {tenon_iq1_rows, 2048, 8, 2, iq1_alphabet, 0xb85e6ccf, 0xa0911588},
};

enum { N_LATTICES = sizeof(lattices) / sizeof(lattices[0]) };

START_TEST(expanded_rows_are_ggml_s)
{
    uint32_t crc = 0;

    for (int i = 0; i < lattices[_i].n_rows; i++)
        for (int k = 0; k < lattices[_i].width; k++) {
            int letter = lattices[_i].rows[i] >> (lattices[_i].bits * k);

            letter &= (1 << lattices[_i].bits) - 1;
            crc = blocks_crc32(crc, &lattices[_i].alphabet[letter], 1);
        }
    ck_assert_uint_eq(crc, lattices[_i].expanded_crc);
}
END_TEST

START_TEST(packed_rows_are_ggml_s)
{
    uint32_t crc = 0;

    for (int i = 0; i < lattices[_i].n_rows; i++) {
        uint16_t row = lattices[_i].rows[i];
        uint8_t bytes[2] = {(uint8_t)row, (uint8_t)(row >> 8)};

        crc = blocks_crc32(crc, bytes, 2);
    }
    ck_assert_uint_eq(crc, lattices[_i].packed_crc);
}
END_TEST

START_TEST(seven_sign_bits_get_an_even_number_of_signs)
{
    for (uint32_t s = 0; s < 128; s++) {
        uint32_t signs = tenon_iq_signs(s), n_set = 0;

        for (int k = 0; k < 8; k++)
            n_set += signs >> k & 1;
        ck_assert_uint_eq(signs & 127, s);
        ck_assert_uint_eq(n_set % 2, 0);
        ck_assert_uint_lt(signs, 256);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("iq_tables");
    TCase *tc = tcase_create("lattices");

    suite_add_tcase(suite, tc);
    tcase_add_loop_test(tc, expanded_rows_are_ggml_s, 0, N_LATTICES);
    tcase_add_loop_test(tc, packed_rows_are_ggml_s, 0, N_LATTICES);
    tcase_add_test(tc, seven_sign_bits_get_an_even_number_of_signs);
    return run_suite(suite);
}
