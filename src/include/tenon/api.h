/* Export and attribute macros that every public header uses. */
#ifndef TENON_API_H
#define TENON_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TENON_BEGIN_DECLS extern "C" {
#define TENON_END_DECLS   }
#else
#define TENON_BEGIN_DECLS
#define TENON_END_DECLS
#endif

#if defined(__GNUC__)
#define TENON_API               __attribute__((visibility("default")))
#define TENON_MUST_USE          __attribute__((warn_unused_result))
#define TENON_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TENON_API
#define TENON_MUST_USE
#define TENON_PRINTF(fmt, args)
#endif

/* "No such offset": errors and findings that concern no particular byte. */
#define TENON_NO_OFFSET UINT64_MAX

/* "No such index": the absent value of every index into a model's arrays. */
#define TENON_NO_INDEX UINT32_MAX

/* Text from a file: `len` bytes at `data`, not terminated, any bytes inside, borrowed from the
 * object it was got from. Never NULL, `len` 0 when empty. Nothing about it is trusted; before it
 * reaches a terminal it must be made safe. */
struct tenon_str {
    const char *data;
    size_t len;
};

TENON_BEGIN_DECLS

/* The library's version as text, "MAJOR.MINOR.PATCH". Static storage. */
TENON_API const char *tenon_version(void);

TENON_END_DECLS

#endif
