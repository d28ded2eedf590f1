/* Part of rows_template.h: functions of one sample, of the responses of a bank, and of a pixel and
 * its opacity. */

static void NAME(affine)(void *to, double a, double b, size_t n)
{
    REAL *row = to;
    for (size_t i = 0; i < n; i++)
        row[i] = row[i] * (REAL)a + (REAL)b;
}

static void NAME(divide)(void *to, const double *by, double factor, size_t n)
{
    REAL *row = to;
    for (size_t i = 0; i < n; i++) {
        REAL divisor = (REAL)(by[i] * factor);
        row[i] = divisor > 0 ? row[i] / divisor : (REAL)0;
    }
}

static bool NAME(finite)(const void *from, size_t n)
{
    const REAL *row = from;
    REAL nothing = 0;
    for (size_t i = 0; i < n; i++)
        nothing += row[i] * 0;
    return nothing == 0;
}

static void NAME(root)(void *to, size_t n)
{
    REAL *row = to;
    for (size_t i = 0; i < n; i++)
        row[i] = SQRT(row[i]);
}

static void NAME(absolute)(void *to, size_t n)
{
    REAL *row = to;
    for (size_t i = 0; i < n; i++)
        row[i] = FABS(row[i]);
}

static void NAME(decode)(REAL *row, const GfCurve *curve, REAL white, size_t stride, size_t n)
{
    const GfCurve k = *curve;
    for (size_t i = 0; i < n * stride; i += stride) {
        REAL x = FABS(row[i]) / white, light;
        if (k.points)
            light = (REAL)gf_table_decode(&k, (double)x);
        else if (x < (REAL)k.d)
            light = (REAL)k.c * x + (REAL)k.f;
        else
            light = POW((REAL)k.a * x + (REAL)k.b, (REAL)k.g) + (REAL)k.e;
        row[i] = row[i] < 0 ? -white * light : white * light;
    }
}

static void NAME(encode)(REAL *row, const GfCurve *curve, REAL white, size_t stride, size_t n)
{
    const GfCurve k = *curve;
    for (size_t i = 0; i < n * stride; i += stride) {
        REAL x = FABS(row[i]) / white, stored;
        if (k.points)
            stored = (REAL)gf_table_encode(&k, (double)x);
        else if (x > (REAL)k.split)
            stored = (POW(x - (REAL)k.e, (REAL)(1 / k.g)) - (REAL)k.b) / (REAL)k.a;
        else
            stored = k.c > 0 ? (x - (REAL)k.f) / (REAL)k.c : (REAL)0;
        row[i] = row[i] < 0 ? -white * stored : white * stored;
    }
}

static void NAME(light)(void *row, const GfPointwise *how, const GfCurve *curve, size_t stride,
                        size_t n)
{
    if (how->op == GF_POINTWISE_DECODE)
        NAME(decode)(row, curve, (REAL)how->a, stride, n);
    else
        NAME(encode)(row, curve, (REAL)how->a, stride, n);
}

static void NAME(pointwise)(void *to, const GfPointwise *how, size_t n)
{
    REAL *row = to, a = (REAL)how->a, b = (REAL)how->b;
    switch (how->op) {
    case GF_POINTWISE_ABS:
        NAME(absolute)(row, n);
        return;
    case GF_POINTWISE_AFFINE:
        NAME(affine)(row, how->a, how->b, n);
        return;
    case GF_POINTWISE_RELU:
        for (size_t i = 0; i < n; i++)
            row[i] = row[i] < 0 ? (REAL)0 : row[i];
        return;
    case GF_POINTWISE_SIGMOID:
        for (size_t i = 0; i < n; i++)
            row[i] = 1 / (1 + EXP(-(row[i] + b)));
        return;
    case GF_POINTWISE_TANH:
        for (size_t i = 0; i < n; i++)
            row[i] = TANH(row[i]);
        return;
    case GF_POINTWISE_DECODE: /* light() */
    case GF_POINTWISE_ENCODE:
        return;
    case GF_POINTWISE_LEAKY:
        for (size_t i = 0; i < n; i++)
            row[i] = row[i] < 0 ? a * row[i] : row[i];
        return;
    case GF_POINTWISE_CLAMP:
        for (size_t i = 0; i < n; i++) {
            REAL value = row[i];
            value = value > b ? b : value;
            row[i] = row[i] < a ? a : value;
        }
        return;
    }
}

static void NAME(combine_l2)(REAL *restrict row, void *const *rows, size_t count, size_t n)
{
    for (size_t i = 0; i < n; i++)
        row[i] *= row[i];
    for (size_t f = 1; f < count; f++) {
        const REAL *restrict next = rows[f];
        for (size_t i = 0; i < n; i++)
            row[i] += next[i] * next[i];
    }
    for (size_t i = 0; i < n; i++)
        row[i] = SQRT(row[i]);
}

static void NAME(combine_pair)(REAL *restrict row, const REAL *restrict next,
                               const GfCombine *combine, size_t n)
{
    REAL amount = (REAL)combine->amount, threshold = (REAL)combine->threshold;
    switch (combine->op) {
    case GF_COMBINE_L1:
        for (size_t i = 0; i < n; i++)
            row[i] = FABS(row[i]) + FABS(next[i]);
        return;
    case GF_COMBINE_MAX:
        for (size_t i = 0; i < n; i++)
            row[i] = row[i] > next[i] ? row[i] : next[i];
        return;
    case GF_COMBINE_MIN:
        for (size_t i = 0; i < n; i++)
            row[i] = row[i] < next[i] ? row[i] : next[i];
        return;
    case GF_COMBINE_SUM:
        for (size_t i = 0; i < n; i++)
            row[i] += next[i];
        return;
    case GF_COMBINE_UNSHARP:
        for (size_t i = 0; i < n; i++) {
            REAL difference = row[i] - next[i];
            row[i] += FABS(difference) >= threshold ? amount * difference : (REAL)0;
        }
        return;
    case GF_COMBINE_NONE:
    case GF_COMBINE_L2:
        return;
    }
}

static void NAME(combine)(void *const *rows, size_t count, const GfCombine *combine, size_t n)
{
    if (combine->op == GF_COMBINE_L2) {
        NAME(combine_l2)(rows[0], rows, count, n);
        return;
    }
    if (combine->op == GF_COMBINE_L1 && count == 1)
        NAME(absolute)(rows[0], n);
    for (size_t f = 1; f < count; f++)
        NAME(combine_pair)(rows[0], rows[f], combine, n);
}

static void NAME(premultiply)(void *to, size_t channels, double white, size_t pixels)
{
    REAL *pixel = to;
    for (size_t i = 0; i < pixels; i++, pixel += channels)
        for (size_t c = 0; c + 1 < channels; c++)
            pixel[c] = pixel[c] * pixel[channels - 1] / (REAL)white;
}

static void NAME(unpremultiply)(void *to, size_t channels, double white, double alpha_gain,
                                size_t pixels)
{
    REAL *pixel = to, least = (REAL)(GF_LEAST_ALPHA * white);
    for (size_t i = 0; i < pixels; i++, pixel += channels) {
        REAL alpha = pixel[channels - 1] * (REAL)alpha_gain;
        for (size_t c = 0; c + 1 < channels; c++)
            pixel[c] = alpha > least ? pixel[c] * (REAL)white / alpha : (REAL)0;
        pixel[channels - 1] = alpha;
    }
}
