#include "zip_out.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The numbers are of PKWARE's APPNOTE 6.3, sections 4.3 and 4.4. */
enum {
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    COMMON_AT = 4,         /* of the fields that both kinds of header have, in a local one */
    SUMS_AT = 14,          /* of checksum and sizes in a local header */
    VERSION = 20,          /* 2.0 is needed */
    MADE_BY = 3 << 8 | 20, /* Unix, whose modes the attributes hold */
    NO_DATE = 1 << 5 | 1   /* the first of January 1980 */
};

/* A regular file that its owner may read and write. */
#define REGULAR_MODE UINT64_C(0100600)

static void put(unsigned char *at, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

/* Version, flags, method, time, date, checksum, both sizes, length of the name. */
static void put_common(unsigned char *at, const struct tenon_zip_entry *entry)
{
    put(at, VERSION, 2);
    put(at + 8, NO_DATE, 2);
    put(at + 10, entry->crc, 4);
    put(at + 14, entry->bytes, 4);
    put(at + 18, entry->bytes, 4);
    put(at + 22, strlen(entry->name), 2);
}

void tenon_zip_begin(struct tenon_zip *zip, const char *name)
{
    struct tenon_zip_entry *entry = &zip->entry[zip->n];
    unsigned char header[LOCAL_BYTES] = "PK\x03\x04";

    *entry = (struct tenon_zip_entry){.offset = zip->out->total};
    snprintf(entry->name, sizeof(entry->name), "%s", name);
    put_common(header + COMMON_AT, entry);
    tenon_out_write(zip->out, header, sizeof(header));
    tenon_out_text(zip->out, entry->name);
    zip->out->sum = 0;
}

void tenon_zip_end(struct tenon_zip *zip)
{
    struct tenon_zip_entry *entry = &zip->entry[zip->n++];
    struct tenon_out *out = zip->out;
    unsigned char sums[12];

    entry->crc = out->sum;
    entry->bytes = out->total - entry->offset - LOCAL_BYTES - strlen(entry->name);
    put(sums, entry->crc, 4);
    put(sums + 4, entry->bytes, 4);
    put(sums + 8, entry->bytes, 4);
    if (tenon_out_flush(out) &&
        pwrite(out->fd, sums, sizeof(sums), (off_t)(entry->offset + SUMS_AT)) != sizeof(sums))
        out->error = errno != 0 ? errno : EIO;
}

void tenon_zip_finish(struct tenon_zip *zip)
{
    uint64_t start = zip->out->total;
    unsigned char end[END_BYTES] = "PK\x05\x06";

    for (size_t i = 0; i < zip->n; i++) {
        const struct tenon_zip_entry *entry = &zip->entry[i];
        unsigned char header[CENTRAL_BYTES] = "PK\x01\x02";

        put(header + 4, MADE_BY, 2);
        put_common(header + 6, entry);
        put(header + 38, REGULAR_MODE << 16, 4);
        put(header + 42, entry->offset, 4);
        tenon_out_write(zip->out, header, sizeof(header));
        tenon_out_text(zip->out, entry->name);
    }
    put(end + 8, zip->n, 2);
    put(end + 10, zip->n, 2);
    put(end + 12, zip->out->total - start, 4);
    put(end + 16, start, 4);
    tenon_out_write(zip->out, end, sizeof(end));
}
