/* The bytes are rows after PNG's row filter. Those of photographs are close to noise: what saves
 * space is that small differences are common, which Huffman's codes use, and runs. Of other
 * repetitions there are many, but of strings so short that naming the distance takes more bits than
 * their literals: taking them, as compressors for text do, made the smoothed photographs that this
 * was measured on 7 and 16 % larger. Drawings, though, repeat long strings.
 *
 * So a match is taken where it is a run of the byte before, or so long that it is worth its bits by
 * what a literal cost in the block before. Matches are looked for at the last place with the same
 * hash, at strides that grow while none is found.
 *
 * A block of the input gets codes of its own, or is stored where these save nothing; so the worst
 * case is known. */
#include "images/deflate.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "common/memory.h"
#include "images/huffman.h"

enum {
    BLOCK = 48 << 10, /* bytes of input; below 2^16, so that one stored block holds them */
    WINDOW = 32768,
    RUN_MIN = 3,
    MATCH_MIN = 6,
    MATCH_MAX = 258,
    MATCH_BITS = 40, /* what a match at a distance takes, and more: it makes others' codes longer */
    WORD = 8,        /* bytes looked at once */
    STEP = WORD - RUN_MIN + 1,
    HASH_BITS = 14,
    PATIENCE = 32,   /* failures until the stride grows, and again */
    STRIDE_MAX = 16, /* steps */
    LITERALS = 286,  /* and lengths, and the end of the block */
    END_OF_BLOCK = 256,
    DISTANCES = 30,
    LENGTH_CODES = 19,
    LITERAL_LIMIT = 14, /* bits: four literals fit into a word beside what is left of a byte */
    DISTANCE_LIMIT = 15,
    LENGTH_LIMIT = 7,
    STORED_HEADER = 5,
    SLACK = 16 /* bytes that the writer of bits may touch behind its last one */
};

/* So many literals, and then a match; the last one of a block may have none (length 0). */
typedef struct Sequence {
    uint32_t literals;
    uint16_t length, distance;
} Sequence;

/* A symbol of the block's header: code lengths, or runs of them. */
typedef struct HeaderSymbol {
    uint8_t symbol, extra;
} HeaderSymbol;

struct GfDeflater {
    uint32_t places[1 << HASH_BITS]; /* of the input, plus one; 0: none */
    Sequence sequences[BLOCK / RUN_MIN + 1];
    size_t count;
    size_t worth;                    /* bytes that a match must have */
    size_t failures;                 /* to find one, lately */
    const unsigned char *next_try;   /* where to look again */
    uint32_t literal_counts[4][256]; /* four, so that equal neighbours do not wait for each other */
    uint32_t literal_frequencies[LITERALS], distance_frequencies[DISTANCES];
    GfHuffmanCode literals[LITERALS], distances[DISTANCES];
    HeaderSymbol header[LITERALS + DISTANCES];
    size_t header_count, literal_codes, distance_codes;
    uint32_t length_frequencies[LENGTH_CODES];
    GfHuffmanCode lengths[LENGTH_CODES];
};

/* Bits on their way out. */
typedef struct Bits {
    uint64_t word;
    unsigned count;
    unsigned char *to;
} Bits;

const unsigned char gf_deflate_end[GF_DEFLATE_END_SIZE] = {0x03, 0x00};

static const uint8_t length_order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                   11, 4,  12, 3, 13, 2, 14, 1, 15};

GfStatus gf_deflater_create(GfDeflater **deflater)
{
    return gf_allocate(1, sizeof **deflater, deflater);
}

size_t gf_deflate_bound(size_t size)
{
    return size + (size / BLOCK + 2) * STORED_HEADER + SLACK;
}

/* ---- symbols of lengths and distances ---- */

static unsigned log2_of(unsigned value)
{
    return 31u - (unsigned)__builtin_clz(value);
}

/* Symbols are four a power of two, the rest of the bits is written as it is. */
static unsigned length_symbol(unsigned length, unsigned *extra_bits)
{
    unsigned rest = length - 3;
    *extra_bits = 0;
    if (length == MATCH_MAX)
        return LITERALS - 1;
    if (rest < 8)
        return END_OF_BLOCK + 1 + rest;
    *extra_bits = log2_of(rest) - 2;
    return END_OF_BLOCK + 1 + 4 * *extra_bits + (rest >> *extra_bits);
}

/* Likewise, two a power of two. */
static unsigned distance_symbol(unsigned distance, unsigned *extra_bits)
{
    unsigned rest = distance - 1;
    *extra_bits = rest < 4 ? 0 : log2_of(rest) - 1;
    return 2 * *extra_bits + (rest >> *extra_bits);
}

/* ---- repetitions ---- */

static uint64_t load(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return le64toh(word);
}

static size_t hash(uint64_t word)
{
    return (size_t)((word << 16) * 0x9E3779B97F4A7C15u >> (64 - HASH_BITS));
}

/* How many bytes from `at` on are those from `before` on; at most `most`, and none behind `end`. */
static size_t match_length(const unsigned char *before, const unsigned char *at,
                           const unsigned char *end)
{
    const unsigned char *begin = at;
    if (end - at > MATCH_MAX)
        end = at + MATCH_MAX;
    while (end - at >= WORD) {
        uint64_t difference = load(at) ^ load(before);
        if (difference)
            return (size_t)(at - begin) + (size_t)__builtin_ctzll(difference) / 8;
        at += WORD;
        before += WORD;
    }
    while (at < end && *at == *before) {
        at++;
        before++;
    }
    return (size_t)(at - begin);
}

/* Where in at[0, STEP) a run of the byte before begins that is RUN_MIN or longer; STEP: nowhere. */
static size_t find_run(const unsigned char *at)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t changes = load(at) ^ load(at - 1);
    changes |= changes >> 8 | changes >> 16;
    /* The lowest byte that is zero is the lowest whose top bit is left. */
    uint64_t zeros = (changes - ones) & ~changes & tops;
    return zeros ? gf_min((size_t)__builtin_ctzll(zeros) / 8, STEP) : STEP;
}

/* Where an earlier string begins that is long enough to be worth a match for `at`, or NULL; notes
 * the place. */
static const unsigned char *find_match(GfDeflater *deflater, const unsigned char *in,
                                       const unsigned char *at, const unsigned char *stop)
{
    uint64_t word = load(at);
    uint32_t *place = &deflater->places[hash(word)];
    size_t here = (size_t)(at - in) + 1, there = *place;
    *place = (uint32_t)here;
    if (there == 0 || here - there > WINDOW || (load(in + there - 1) ^ word) << 16 != 0)
        return NULL;
    const unsigned char *before = in + there - 1;
    return match_length(before, at, stop) >= deflater->worth ? before : NULL;
}

/* The first match that begins in (*at)[0, STEP); moves *at there. While few are found only the first
 * byte of some steps is tried. */
static const unsigned char *find_any(GfDeflater *deflater, const unsigned char *in,
                                     const unsigned char *stop, const unsigned char **at)
{
    const unsigned char *before, *place = *at;
    size_t stride = deflater->failures / PATIENCE;
    if (place < deflater->next_try)
        return NULL;
    do
        before = find_match(deflater, in, place, stop);
    while (!before && stride == 0 && ++place < *at + STEP);
    if (before) {
        *at = place;
        deflater->failures /= 2;
        return before;
    }
    deflater->failures += deflater->failures < PATIENCE * STRIDE_MAX;
    deflater->next_try = *at + stride * STEP;
    return NULL;
}

/* The match for the next bytes, of which *at is moved to its first, or NULL. */
static const unsigned char *find(GfDeflater *deflater, const unsigned char *in,
                                 const unsigned char *done, const unsigned char *stop,
                                 const unsigned char **at)
{
    size_t run = find_run(*at);
    if (run < STEP) {
        *at += run;
        return *at - 1;
    }
    const unsigned char *before = find_any(deflater, in, stop, at);
    for (; before && *at > done && before > in && (*at)[-1] == before[-1]; before--)
        (*at)--;
    return before;
}

/* Splits in[begin, end) into sequences. */
static void parse(GfDeflater *deflater, const unsigned char *in, size_t begin, size_t end)
{
    const unsigned char *at = in + begin, *done = at, *stop = in + end;
    Sequence *next = deflater->sequences;
    at += at == in; /* nothing is before the first byte */
    while (stop - at >= 2 * WORD) {
        const unsigned char *before = find(deflater, in, done, stop, &at);
        if (!before) {
            at += STEP;
            continue;
        }
        size_t length = match_length(before, at, stop);
        *next++ = (Sequence){(uint32_t)(at - done), (uint16_t)length, (uint16_t)(at - before)};
        at += length;
        done = at;
    }
    if (done < stop)
        *next++ = (Sequence){(uint32_t)(stop - done), 0, 0};
    deflater->count = (size_t)(next - deflater->sequences);
}

/* ---- codes ---- */

static void count_literals(GfDeflater *deflater, const unsigned char *from, size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        deflater->literal_counts[0][from[i]]++;
        deflater->literal_counts[1][from[i + 1]]++;
        deflater->literal_counts[2][from[i + 2]]++;
        deflater->literal_counts[3][from[i + 3]]++;
    }
    for (; i < count; i++)
        deflater->literal_counts[0][from[i]]++;
}

/* Counts the symbols of the sequences, which begin at `from`; returns the bits of the numbers that
 * are written beside symbols. */
static size_t count_symbols(GfDeflater *deflater, const unsigned char *from)
{
    size_t extra = 0;
    memset(deflater->literal_counts, 0, sizeof deflater->literal_counts);
    memset(deflater->literal_frequencies, 0, sizeof deflater->literal_frequencies);
    memset(deflater->distance_frequencies, 0, sizeof deflater->distance_frequencies);
    for (size_t i = 0; i < deflater->count; i++) {
        const Sequence *sequence = &deflater->sequences[i];
        unsigned bits;
        count_literals(deflater, from, sequence->literals);
        from += sequence->literals + sequence->length;
        if (!sequence->length)
            break;
        deflater->literal_frequencies[length_symbol(sequence->length, &bits)]++;
        extra += bits;
        deflater->distance_frequencies[distance_symbol(sequence->distance, &bits)]++;
        extra += bits;
    }
    for (size_t i = 0; i < 256; i++)
        for (size_t j = 0; j < 4; j++)
            deflater->literal_frequencies[i] += deflater->literal_counts[j][i];
    deflater->literal_frequencies[END_OF_BLOCK] = 1;
    return extra;
}

static size_t used_codes(const GfHuffmanCode *codes, size_t count, size_t least)
{
    while (count > least && codes[count - 1].length == 0)
        count--;
    return count;
}

static void add_header(GfDeflater *deflater, unsigned symbol, size_t extra)
{
    deflater->header[deflater->header_count++] = (HeaderSymbol){(uint8_t)symbol, (uint8_t)extra};
    deflater->length_frequencies[symbol]++;
}

/* One length, `run` times: 16 repeats the length before 3 to 6 times, 17 stands for 3 to 10 zeros,
 * 18 for 11 to 138. */
static void add_run(GfDeflater *deflater, unsigned length, size_t run)
{
    while (length == 0 && run >= 3) {
        size_t part = gf_min(run, 138);
        add_header(deflater, part < 11 ? 17 : 18, part - (part < 11 ? 3 : 11));
        run -= part;
    }
    if (run > 0) {
        add_header(deflater, length, 0);
        run--;
    }
    while (length > 0 && run >= 3) {
        size_t part = gf_min(run, 6);
        add_header(deflater, 16, part - 3);
        run -= part;
    }
    for (; run > 0; run--)
        add_header(deflater, length, 0);
}

/* Lengths of both codes, one behind the other. */
static void make_header(GfDeflater *deflater)
{
    uint8_t all[LITERALS + DISTANCES];
    size_t count = 0;
    deflater->literal_codes = used_codes(deflater->literals, LITERALS, END_OF_BLOCK + 1);
    deflater->distance_codes = used_codes(deflater->distances, DISTANCES, 1);
    for (size_t i = 0; i < deflater->literal_codes; i++)
        all[count++] = deflater->literals[i].length;
    for (size_t i = 0; i < deflater->distance_codes; i++)
        all[count++] = deflater->distances[i].length;
    deflater->header_count = 0;
    memset(deflater->length_frequencies, 0, sizeof deflater->length_frequencies);
    for (size_t i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && all[i + run] == all[i]; run++)
            ;
        add_run(deflater, all[i], run);
    }
    gf_huffman_build(deflater->length_frequencies, LENGTH_CODES, LENGTH_LIMIT, deflater->lengths);
}

static size_t total_bits(const uint32_t *frequencies, const GfHuffmanCode *codes, size_t count)
{
    size_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits += (size_t)frequencies[i] * codes[i].length;
    return bits;
}

/* How many literals take the bits of a match. */
static size_t match_worth(const GfDeflater *deflater)
{
    size_t count = 1, bits = total_bits(deflater->literal_frequencies, deflater->literals, 256) + 1;
    for (size_t i = 0; i < 256; i++)
        count += deflater->literal_frequencies[i];
    return gf_max(MATCH_BITS * count / bits, MATCH_MIN);
}

static unsigned header_extra_bits(unsigned symbol)
{
    return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
}

/* Code lengths of the code for code lengths, in an order that has the rare ones at its end. */
static size_t header_lengths(const GfDeflater *deflater)
{
    size_t count = LENGTH_CODES;
    while (count > 4 && deflater->lengths[length_order[count - 1]].length == 0)
        count--;
    return count;
}

/* Makes the block's codes and returns its size in bits. */
static size_t make_codes(GfDeflater *deflater, const unsigned char *from)
{
    size_t bits = count_symbols(deflater, from);
    gf_huffman_build(deflater->literal_frequencies, LITERALS, LITERAL_LIMIT, deflater->literals);
    gf_huffman_build(deflater->distance_frequencies, DISTANCES, DISTANCE_LIMIT,
                     deflater->distances);
    make_header(deflater);
    bits += total_bits(deflater->literal_frequencies, deflater->literals, LITERALS);
    bits += total_bits(deflater->distance_frequencies, deflater->distances, DISTANCES);
    bits += total_bits(deflater->length_frequencies, deflater->lengths, LENGTH_CODES);
    for (unsigned symbol = 16; symbol < LENGTH_CODES; symbol++)
        bits += (size_t)deflater->length_frequencies[symbol] * header_extra_bits(symbol);
    return bits + 3 + 5 + 5 + 4 + 3 * header_lengths(deflater);
}

/* ---- bits ---- */

static void put(Bits *bits, unsigned value, unsigned count)
{
    bits->word |= (uint64_t)value << bits->count;
    bits->count += count;
}

static void put_code(Bits *bits, GfHuffmanCode code)
{
    put(bits, code.bits, code.length);
}

/* Writes the whole bytes; fewer than 8 bits are left. */
static void flush(Bits *bits)
{
    uint64_t word = htole64(bits->word);
    memcpy(bits->to, &word, sizeof word);
    bits->to += bits->count >> 3;
    bits->word >>= bits->count & ~7u;
    bits->count &= 7;
}

static void write_header(const GfDeflater *deflater, Bits *bits)
{
    size_t count = header_lengths(deflater);
    put(bits, 4, 3); /* not the last block; codes of its own */
    put(bits, (unsigned)deflater->literal_codes - 257, 5);
    put(bits, (unsigned)deflater->distance_codes - 1, 5);
    put(bits, (unsigned)count - 4, 4);
    for (size_t i = 0; i < count; i++) {
        put(bits, deflater->lengths[length_order[i]].length, 3);
        flush(bits);
    }
    for (size_t i = 0; i < deflater->header_count; i++) {
        const HeaderSymbol *symbol = &deflater->header[i];
        put_code(bits, deflater->lengths[symbol->symbol]);
        put(bits, symbol->extra, header_extra_bits(symbol->symbol));
        flush(bits);
    }
}

static void write_literals(const GfDeflater *deflater, const unsigned char *from, size_t count,
                           Bits *bits)
{
    const GfHuffmanCode *codes = deflater->literals;
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (size_t j = 0; j < 4; j++)
            put_code(bits, codes[from[i + j]]);
        flush(bits);
    }
    for (; i < count; i++)
        put_code(bits, codes[from[i]]);
    flush(bits);
}

static void write_match(const GfDeflater *deflater, const Sequence *sequence, Bits *bits)
{
    unsigned extra;
    unsigned symbol = length_symbol(sequence->length, &extra);
    put_code(bits, deflater->literals[symbol]);
    put(bits, (sequence->length - 3u) & ((1u << extra) - 1), extra);
    symbol = distance_symbol(sequence->distance, &extra);
    put_code(bits, deflater->distances[symbol]);
    put(bits, (sequence->distance - 1u) & ((1u << extra) - 1), extra);
    flush(bits);
}

static void write_block(const GfDeflater *deflater, const unsigned char *from, Bits *bits)
{
    write_header(deflater, bits);
    for (size_t i = 0; i < deflater->count; i++) {
        const Sequence *sequence = &deflater->sequences[i];
        write_literals(deflater, from, sequence->literals, bits);
        from += sequence->literals + sequence->length;
        if (sequence->length)
            write_match(deflater, sequence, bits);
    }
    put_code(bits, deflater->literals[END_OF_BLOCK]);
    flush(bits);
}

/* A stored block, which ends at a byte's end; without bytes it only leads there. */
static void write_stored(const unsigned char *from, size_t size, Bits *bits)
{
    put(bits, 0, 3);
    bits->count = (bits->count + 7) & ~7u;
    flush(bits);
    put(bits, (unsigned)size, 16);
    put(bits, ~(unsigned)size & 0xffff, 16);
    flush(bits);
    memcpy(bits->to, from, size);
    bits->to += size;
}

/* ---- pieces ---- */

size_t gf_deflate(GfDeflater *deflater, const unsigned char *in, size_t size, unsigned char *out)
{
    Bits bits = {.to = out};
    memset(deflater->places, 0, sizeof deflater->places);
    deflater->worth = MATCH_BITS / 5;
    deflater->failures = 0;
    deflater->next_try = in;
    for (size_t begin = 0, end; begin < size; begin = end) {
        end = begin + gf_min(size - begin, BLOCK);
        parse(deflater, in, begin, end);
        if (make_codes(deflater, in + begin) < 8 * (end - begin))
            write_block(deflater, in + begin, &bits);
        else
            write_stored(in + begin, end - begin, &bits);
        deflater->worth = match_worth(deflater);
    }
    if (bits.count > 0)
        write_stored(in, 0, &bits);
    return (size_t)(bits.to - out);
}

size_t gf_deflate_store(const unsigned char *in, size_t size, unsigned char *out)
{
    Bits bits = {.to = out};
    for (size_t begin = 0; begin < size; begin += BLOCK)
        write_stored(in + begin, gf_min(size - begin, BLOCK), &bits);
    return (size_t)(bits.to - out);
}
