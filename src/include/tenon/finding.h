/* Observations about a model that do not stop it from being read. */
#ifndef TENON_FINDING_H
#define TENON_FINDING_H

#include "tenon/api.h"

TENON_BEGIN_DECLS

enum tenon_severity {
    TENON_SEVERITY_INFO = 0,    /* worth knowing, nothing to mend */
    TENON_SEVERITY_WARNING = 1, /* some reader will stumble */
    TENON_SEVERITY_ERROR = 2    /* wrong by the specification or for the reference loader */
};

/* One observation. Codes and their severities are the rows of findings.def. Texts are borrowed
 * from the model, terminated, sanitised UTF-8. */
struct tenon_finding {
    enum tenon_severity severity;
    const char *code;    /* stable id, "padding_not_zero" */
    const char *source;  /* whose rule: "spec", "loader" (the reference loader) or "model" */
    const char *subject; /* tensor, key or file concerned; "" when none */
    const char *message;
    uint64_t offset; /* absolute in file `file`, or TENON_NO_OFFSET */
    uint32_t file;   /* index into the model's files, or TENON_NO_INDEX */
};

/* "info", "warning" or "error". */
TENON_API const char *tenon_severity_name(enum tenon_severity severity);

TENON_END_DECLS

#endif
