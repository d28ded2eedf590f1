/* Metadata travels as opaque copies: a filter changes samples, not what colours, densities and
 * comments mean, so nothing here is interpreted beyond what an output needs in order to stay true.
 */
#include "images/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "images/codecs.h"

const double gf_srgb_chromaticities[8] = {0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06};

GfMetadata gf_metadata_none(void)
{
    return (GfMetadata){.srgb_intent = -1};
}

GfStatus gf_blob_set(GfBlob *blob, const void *data, size_t size)
{
    if (size == 0)
        return GF_OK;
    GF_TRY(gf_allocate(size, 1, &blob->data));
    memcpy(blob->data, data, size);
    blob->size = size;
    return GF_OK;
}

GfStatus gf_metadata_add_text(GfMetadata *metadata, const char *keyword, const char *text)
{
    size_t bytes;
    if (!gf_mul(metadata->text_count + 1, sizeof *metadata->texts, &bytes))
        return gf_fail(GF_EMEMORY, "too many texts");
    GfText *texts = realloc(metadata->texts, bytes);
    if (!texts)
        return gf_fail(GF_EMEMORY, "out of memory (%zu texts)", metadata->text_count + 1);
    metadata->texts = texts;
    GfText added = {.keyword = strdup(keyword), .text = strdup(text)};
    if (!added.keyword || !added.text) {
        free(added.keyword);
        free(added.text);
        return gf_fail(GF_EMEMORY, "out of memory (a text of %zu bytes)", strlen(text));
    }
    texts[metadata->text_count++] = added;
    return GF_OK;
}

static GfStatus copy_text(const char *text, char **copy)
{
    if (!text || !*text)
        return GF_OK;
    *copy = strdup(text);
    return *copy ? GF_OK : gf_fail(GF_EMEMORY, "out of memory (a text of %zu bytes)", strlen(text));
}

GfStatus gf_metadata_set_language(GfMetadata *metadata, const char *language,
                                  const char *translated)
{
    GfText *last = &metadata->texts[metadata->text_count - 1];
    GF_TRY(copy_text(language, &last->language));
    return copy_text(translated, &last->translated);
}

/* The digit of an orientation behind its name: tiff:Orientation="6", with either quote, or
 * <tiff:Orientation>6</tiff:Orientation>. NULL for what is neither. */
static char *find_digit(char *place)
{
    static const char space[] = " \t\r\n";
    place += strspn(place, space);
    if (*place == '=')
        place += 1 + strspn(place + 1, space);
    else if (*place != '>')
        return NULL;
    if (!*place || !strchr("\"'>", *place))
        return NULL;
    place += 1 + strspn(place + 1, space);
    return *place >= '1' && *place <= '8' && !(place[1] >= '0' && place[1] <= '9') ? place : NULL;
}

static void reset_xmp(char *packet)
{
    static const char name[] = "tiff:Orientation";
    for (char *place = packet; (place = strstr(place, name));) {
        place += sizeof name - 1;
        char *digit = find_digit(place);
        if (digit)
            *digit = '1';
    }
}

void gf_metadata_reset_orientation(GfMetadata *metadata)
{
    gf_exif_reset_orientation(&metadata->exif);
    for (size_t i = 0; i < metadata->text_count; i++)
        if (strcmp(metadata->texts[i].keyword, GF_XMP_KEYWORD) == 0)
            reset_xmp(metadata->texts[i].text);
}

void gf_metadata_free(GfMetadata *metadata)
{
    free(metadata->icc.data);
    free(metadata->exif.data);
    free(metadata->photoshop.data);
    for (size_t i = 0; i < metadata->text_count; i++) {
        free(metadata->texts[i].keyword);
        free(metadata->texts[i].text);
        free(metadata->texts[i].language);
        free(metadata->texts[i].translated);
    }
    free(metadata->texts);
    *metadata = gf_metadata_none();
}
