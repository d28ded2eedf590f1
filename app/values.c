/* strtoull() takes more than a user means ("-1" as a huge number, " 3"), so the first character and
 * the end are looked at here. */
#include "app/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/naming.h"
#include "common/memory.h"
#include "common/text.h"
#include "images/codec.h"

enum { SHOWN = 128, MAX_WORDS = 32 };

/* Digits at *text; false when there are none or the number does not fit. */
static bool read_digits(const char **text, size_t *value)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    unsigned long long number = strtoull(*text, &end, 10);
    if (errno != 0 || number > SIZE_MAX)
        return false;
    *text = end;
    *value = (size_t)number;
    return true;
}

GfStatus gf_value_count(const char *option, const char *text, size_t least, size_t most,
                        size_t *value)
{
    char shown[SHOWN];
    const char *end = text;
    size_t number;
    if (read_digits(&end, &number) && !*end && number >= least && number <= most) {
        *value = number;
        return GF_OK;
    }
    return gf_fail(GF_EUSAGE, "--%s: \"%s\" is not a whole number from %zu to %zu", option,
                   gf_escape(text, shown, sizeof shown), least, most);
}

GfStatus gf_value_size(const char *option, const char *text, size_t unit, size_t *value)
{
    static const char suffixes[] = "kmgt";
    char shown[SHOWN];
    const char *end = text;
    size_t number;
    bool good = read_digits(&end, &number) && number > 0;
    if (good && *end) {
        const char *suffix = strchr(suffixes, tolower((unsigned char)*end++));
        good = suffix && !*end;
        for (ptrdiff_t i = 0; good && i <= suffix - suffixes; i++)
            good = gf_mul(number, unit, &number);
    }
    if (good) {
        *value = number;
        return GF_OK;
    }
    return gf_fail(GF_EUSAGE, "--%s: \"%s\" is not a size such as 4096, 500k, 64M or 2G", option,
                   gf_escape(text, shown, sizeof shown));
}

GfStatus gf_value_number(const char *option, const char *text, double least, double most,
                         double *value)
{
    char shown[SHOWN];
    const char *end = text;
    double number;
    if (!isspace((unsigned char)*text) && gf_read_number(&end, &number) && !*end &&
        number >= least && number <= most) {
        *value = number;
        return GF_OK;
    }
    gf_escape(text, shown, sizeof shown);
    if (most < INFINITY)
        return gf_fail(GF_EUSAGE, "--%s: \"%s\" is not a number from %g to %g", option, shown,
                       least, most);
    return gf_fail(GF_EUSAGE, "--%s: \"%s\" is not a number from %g on", option, shown, least);
}

GfStatus gf_value_text(const char *option, const char *text, const char **value)
{
    if (!*text)
        return gf_fail(GF_EUSAGE, "--%s: the text is empty", option);
    *value = text;
    return GF_OK;
}

GfStatus gf_value_picture(const char *option, const char *text, const char **path)
{
    char shown[SHOWN];
    const char *extension = gf_path_any_extension(text);
    if (!*extension || gf_codec_for_path(text))
        return gf_value_text(option, text, path);
    return gf_fail(GF_EUSAGE, "--%s: nothing is known of the extension %s; use .png, .jpg or .npy",
                   option, gf_escape(extension, shown, sizeof shown));
}

GfStatus gf_value_word(const char *option, const char *text, const GfWord *words, int *value)
{
    const char *names[MAX_WORDS + 1];
    char shown[SHOWN], all[GF_MESSAGE_SIZE / 2] = "";
    size_t n = 0, used = 0;
    for (; n < MAX_WORDS && words[n].word; n++) {
        if (strcmp(words[n].word, text) == 0) {
            *value = words[n].value;
            return GF_OK;
        }
        names[n] = words[n].word;
        if (used < sizeof all)
            used +=
                (size_t)snprintf(all + used, sizeof all - used, "%s%s", n ? ", " : "", names[n]);
    }
    names[n] = NULL;
    const char *nearest = gf_nearest(text, names);
    gf_escape(text, shown, sizeof shown);
    if (nearest)
        return gf_fail(GF_EUSAGE, "--%s: unknown \"%s\"; did you mean \"%s\"?", option, shown,
                       nearest);
    return gf_fail(GF_EUSAGE, "--%s: unknown \"%s\"; it is one of: %s", option, shown, all);
}
