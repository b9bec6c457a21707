/* Two matrices compared row by row, in tiles and on several threads. The figures do not depend
 * on how many. */
#ifndef TENON_TYING_ROWS_H
#define TENON_TYING_ROWS_H

#include "matrix.h"
#include "tenon/tying.h"

/* Runs of row numbers: the first few, and how many there are in all. */
enum { TENON_MOST_RUNS = 6 };

struct tenon_row_runs {
    uint64_t first[TENON_MOST_RUNS], last[TENON_MOST_RUNS];
    uint64_t n_runs, n_rows;
    uint64_t end; /* one after the last row, where the last run goes on */
};

/* What to look for. */
struct tenon_rows_job {
    const struct tenon_matrix *in, *out;
    uint64_t rows;    /* of both, from the first */
    double scale;     /* output is compared with this times the input */
    double slack;     /* times the bounds that rounding sets */
    double row_error; /* greatest |difference| / |row| that counts as rounding; 0: any */
    bool bounds;      /* ask for the bounds; else equality alone counts */
    unsigned threads; /* 0: as many as there are processors */
};

struct tenon_rows_result {
    struct tenon_evidence evidence;
    struct tenon_row_runs differ; /* rows that are not equal */
    struct tenon_row_runs far;    /* rows that rounding does not explain */
};

/* Fails with IO, TRUNCATED or NO_MEMORY. */
enum tenon_status tenon_rows_compare(const struct tenon_rows_job *job,
                                     struct tenon_rows_result *out, struct tenon_error *err);

#endif
