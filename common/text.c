#include "common/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of the well-formed UTF-8 character at s that is safe to show, or 0. C1 controls
 * (U+0080..U+009F), bidirectional controls, line separators and byte order marks count as
 * unsafe. */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return s[0] >= 0x20 && s[0] != 0x7f && s[0] != '\\';
    size_t n = s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (n == 0 || s[0] > 0xf4)
        return 0;
    unsigned long code = s[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    bool overlong = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    bool control = code < 0xa0 || (code >= 0x2028 && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f ||
                   code == 0x61c || code == 0xfeff;
    return overlong || surrogate || control || code > 0x10ffff ? 0 : n;
}

const char *gf_escape(const char *name, char *out, size_t size)
{
    size_t used = 0;
    const unsigned char *s = (const unsigned char *)name;
    while (*s) {
        size_t n = utf8_length(s);
        char piece[8];
        size_t length = n ? n : *s == '\\' ? 2 : 4;
        if (n)
            memcpy(piece, s, n);
        else if (*s == '\\')
            memcpy(piece, "\\\\", 2);
        else
            snprintf(piece, sizeof piece, "\\x%02x", *s);
        if (used + length + 4 > size) {
            snprintf(out + used, size - used, "...");
            return out;
        }
        memcpy(out + used, piece, length);
        used += length;
        s += n ? n : 1;
    }
    out[used] = '\0';
    return out;
}

double gf_trim_to_single(double number)
{
    const double most = 0x1.fffffefffffffp127; /* halfway to 2^128 f32 rounds to infinity */
    bool rounds = fabs(number) > (double)FLT_MAX && fabs(number) <= most;
    return rounds ? copysign((double)FLT_MAX, number) : number;
}

bool gf_read_number(const char **text, double *value)
{
    char *end;
    const char *s = *text + strspn(*text, " \t\r\n");
    size_t digits = strspn(s, "+-.0123456789eE");
    *value = strtod(s, &end);
    if (end == s || (size_t)(end - s) > digits || *end == '.' || !isfinite(*value))
        return false;
    *value = gf_trim_to_single(*value);
    *text = end;
    return true;
}

static const char *size_text(size_t bytes, size_t kib, char *out)
{
    if (bytes < 1024)
        snprintf(out, GF_SIZE_TEXT, "%zu byte%s", bytes, bytes == 1 ? "" : "s");
    else
        snprintf(out, GF_SIZE_TEXT, "%zu KiB", kib);
    return out;
}

const char *gf_limit_text(size_t bytes, char *out)
{
    return size_text(bytes, bytes / 1024, out);
}

const char *gf_need_text(size_t bytes, char *out)
{
    return size_text(bytes, bytes / 1024 + (bytes % 1024 > 0), out);
}

/* Of ASCII, in every locale. */
static char lower_case(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

size_t gf_distance(const char *a, const char *b)
{
    size_t row[128];
    size_t n = strlen(b);
    if (n + 1 > sizeof row / sizeof row[0])
        return (size_t)-1;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (lower_case(a[i]) != lower_case(b[j - 1]));
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

const char *gf_nearest(const char *name, const char *const *names)
{
    const char *best = NULL;
    size_t best_distance = (size_t)-1;
    for (; *names; names++) {
        size_t d = gf_distance(name, *names);
        size_t longer = strlen(name) > strlen(*names) ? strlen(name) : strlen(*names);
        if (d < best_distance && d * 3 <= longer + 1) {
            best = *names;
            best_distance = d;
        }
    }
    return best;
}
