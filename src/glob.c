/* Shell patterns. */
#include "tenon/text.h"

/* Matches one character against "[...]" at `*pattern` (behind the bracket), which it leaves
 * behind the closing one. A set that is never closed matches nothing. */
static bool match_set(const char **pattern, char c)
{
    const char *p = *pattern;
    bool negated = *p == '!' || *p == '^';
    bool found = false, first = true;

    if (negated)
        p++;
    for (; *p != '\0' && (*p != ']' || first); p++) {
        char low = *p, high = *p;

        first = false;
        if (p[1] == '-' && p[2] != '\0' && p[2] != ']') {
            high = p[2];
            p += 2;
        }
        found = found || (c >= low && c <= high);
    }
    *pattern = *p == ']' ? p + 1 : p;
    return *p == ']' && found != negated;
}

static bool match_one(const char **pattern, char c)
{
    const char *p = *pattern;

    *pattern = p + 1;
    switch (*p) {
    case '?':
        return true;
    case '[':
        return match_set(pattern, c);
    case '\\':
        if (p[1] != '\0') {
            *pattern = p + 2;
            return p[1] == c;
        }
        return c == '\\';
    default:
        return *p == c && *p != '\0';
    }
}

bool tenon_text_glob(const char *pattern, const char *text, size_t len)
{
    const char *star = NULL; /* behind the last '*', where matching resumes */
    size_t i = 0, resume = 0;

    while (i < len) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = i;
        } else if (match_one(&pattern, text[i])) {
            i++;
        } else if (star != NULL) {
            pattern = star;
            i = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
