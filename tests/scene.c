/* Makes the picture that tests, benchmarks and the README use, at any size and in every PNG type.
 *
 * A small ray tracer, because its pictures have what filters act on: edges at many angles and
 * contrasts (a Siemens star for a sun, a zone plate, a chequered floor, a mirror), lines from
 * coarse to finer than a pixel, gradients without edges (sky, shading), texture, and text at many
 * sizes. Every pixel is the mean of many rays. The files are written by libpng directly, so that
 * nothing here depends on the code under test.
 *
 * scene DIRECTORY                           all kinds at 512 x 384, as DIRECTORY/scene-KIND.png
 * scene --size WxH --kind KIND FILE         one picture */
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- Vectors: x to the right, y up, z away from the viewer; also linear-light RGB ---- */

typedef struct Vec {
    double x, y, z;
} Vec;

static Vec vec(double x, double y, double z)
{
    return (Vec){x, y, z};
}

static Vec add(Vec a, Vec b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static Vec scale(Vec a, double s)
{
    return vec(a.x * s, a.y * s, a.z * s);
}

static Vec subtract(Vec a, Vec b)
{
    return add(a, scale(b, -1));
}

static double dot(Vec a, Vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static Vec unit(Vec a)
{
    return scale(a, 1 / sqrt(dot(a, a)));
}

static double clamp(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

static Vec mix(Vec a, Vec b, double t)
{
    t = clamp(t, 0, 1);
    return add(scale(a, 1 - t), scale(b, t));
}

/* A colour as it is written in a style sheet, 0xRRGGBB; light is taken as the square of the sample,
 * near enough to sRGB and exact in every C library. */
static Vec colour(unsigned rgb)
{
    Vec c = vec((rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
    return vec(c.x * c.x, c.y * c.y, c.z * c.z);
}

/* ---- Patterns on surfaces ---- */

/* Seven rows of five bits a letter, A to Z, the highest bit at the left. */
static const unsigned char letters[26][7] = {
    {14, 17, 17, 31, 17, 17, 17}, {30, 17, 17, 30, 17, 17, 30}, {14, 17, 16, 16, 16, 17, 14},
    {30, 17, 17, 17, 17, 17, 30}, {31, 16, 16, 30, 16, 16, 31}, {31, 16, 16, 30, 16, 16, 16},
    {14, 17, 16, 23, 17, 17, 15}, {17, 17, 17, 31, 17, 17, 17}, {14, 4, 4, 4, 4, 4, 14},
    {7, 2, 2, 2, 2, 18, 12},      {17, 18, 20, 24, 20, 18, 17}, {16, 16, 16, 16, 16, 16, 31},
    {17, 27, 21, 21, 17, 17, 17}, {17, 25, 21, 19, 17, 17, 17}, {14, 17, 17, 17, 17, 17, 14},
    {30, 17, 17, 30, 16, 16, 16}, {14, 17, 17, 17, 21, 18, 13}, {30, 17, 17, 30, 20, 18, 17},
    {15, 16, 16, 14, 1, 1, 30},   {31, 4, 4, 4, 4, 4, 4},       {17, 17, 17, 17, 17, 17, 14},
    {17, 17, 17, 17, 17, 10, 4},  {17, 17, 17, 21, 21, 27, 17}, {17, 17, 10, 4, 10, 17, 17},
    {17, 17, 10, 4, 4, 4, 4},     {31, 1, 2, 4, 8, 16, 31},
};

/* Is (x, y) on a letter of `text`? One unit is the side of a letter's dot, (0, 0) the top left. */
static int on_text(const char *text, double x, double y)
{
    if (x < 0 || y < 0 || y >= 7 || x >= 6 * (double)strlen(text))
        return 0;
    char letter = text[(int)(x / 6)];
    int column = (int)x % 6;
    return letter != ' ' && column < 5 && letters[letter - 'A'][(int)y] >> (4 - column) & 1;
}

/* An eye chart: u, v in 0..1 from the left and the top. */
static Vec chart(double u, double v)
{
    static const struct {
        const char *text;
        double top, dot; /* of the panel's height and width */
    } lines[] = {
        {"GPU", 0.06, 0.0450},
        {"FILTER", 0.41, 0.0230},
        {"CONVOLUTION", 0.60, 0.0128},
        {"EDGES BORDERS TAPS", 0.72, 0.0080},
        {"KERNELS OF THREE BY THREE", 0.81, 0.0058},
        {"THE QUICK BROWN FOX JUMPS OVER", 0.88, 0.0048},
    };
    Vec paper = colour(0xf4ecd8), ink = colour(0x1b2438);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        double width = (6 * (double)strlen(lines[i].text) - 1) * lines[i].dot;
        double x = (u - (1 - width) / 2) / lines[i].dot;
        if (on_text(lines[i].text, x, (v - lines[i].top) / lines[i].dot))
            return i == 1 ? colour(0xb8341f) : ink;
    }
    return u < 0.02 || u > 0.98 || v < 0.02 || v > 0.98 ? ink : paper;
}

/* Rings that get narrower from the middle out: every frequency in every direction. */
static Vec zone_plate(double u, double v)
{
    double r2 = (u - 0.5) * (u - 0.5) + (v - 0.5) * (v - 0.5);
    double wave = 0.5 + 0.5 * cos(2 * pi * 42 * r2);
    return mix(colour(0x0e2a36), colour(0xe9fbf4), wave);
}

/* Texture without edges: sines of many directions, deterministic. */
static double ripple(double x, double y, double z)
{
    double sum = 0, frequency = 5, height = 0.5;
    for (int i = 0; i < 5; i++) {
        sum += height * sin(frequency * (x + 0.6 * z) + 1.7 * i) *
               sin(frequency * (y - 0.4 * x + 0.3 * z) + i);
        frequency *= 1.83;
        height *= 0.62;
    }
    return sum;
}

/* Film grain: a hash of the pixel, -0.5..0.5. */
static double grain(uint32_t x, uint32_t y, uint32_t channel)
{
    uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ channel * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (double)(h ^ h >> 15) / 4294967295.0 - 0.5;
}

static Vec floor_colour(double x, double z)
{
    int odd = ((int)floor(x) + (int)floor(z)) & 1;
    Vec tile = odd ? colour(0x2b3148) : colour(0xd9d4c7);
    return scale(tile, 1 + 0.10 * ripple(0.35 * x, 0.35 * z, 0));
}

/* ---- The sky, by direction ---- */

static const Vec light = {0.42, 0.52, -0.62};

/* Four-pointed stars, from a dozen pixels down to less than one. */
static int on_star(double x, double y)
{
    static const double stars[][3] = {
        {-0.50, 0.43, 0.045}, {-0.34, 0.38, 0.030}, {-0.22, 0.45, 0.022}, {-0.40, 0.29, 0.016},
        {-0.10, 0.40, 0.036}, {-0.56, 0.33, 0.011}, {-0.27, 0.30, 0.008}, {-0.14, 0.32, 0.013},
        {0.03, 0.44, 0.018},  {0.09, 0.36, 0.008},  {-0.03, 0.28, 0.005}, {0.50, 0.44, 0.020},
        {0.56, 0.36, 0.010},  {-0.43, 0.45, 0.006}, {0.16, 0.455, 0.006},
    };
    for (size_t i = 0; i < sizeof stars / sizeof stars[0]; i++) {
        double dx = fabs(x - stars[i][0]), dy = fabs(y - stars[i][1]);
        if (sqrt(dx) + sqrt(dy) < sqrt(stars[i][2]))
            return 1;
    }
    return 0;
}

static Vec sky(Vec d)
{
    double height = d.y / sqrt(d.x * d.x + d.z * d.z), side = d.x / (fabs(d.z) + 1e-9);
    Vec high = colour(0x17265c), low = colour(0xffc58a), rose = colour(0xd7698a);
    Vec c = height < 0.22 ? mix(low, rose, height / 0.22) : mix(rose, high, (height - 0.22) / 0.50);
    /* The sun: a star of 32 rays, with a glow that fades out. */
    double x = side - 0.33, y = height - 0.34, r = sqrt(x * x + y * y);
    c = add(c, scale(colour(0xffb066), 0.55 * exp(-r * 6)));
    if (d.z > 0 && r < 0.135) {
        int ray = (int)floor(atan2(y, x) / pi * 16 + 16) & 1;
        return r > 0.125 || ray ? colour(0xfff4cf) : colour(0xd2501e);
    }
    if (d.z > 0 && on_star(side, height))
        return colour(0xfff8e6);
    /* Two ranges of hills. */
    double far_hill =
        0.085 + 0.035 * sin(5.1 * side + 1) + 0.018 * sin(13 * side) + 0.006 * sin(41 * side);
    double near_hill = 0.035 + 0.030 * sin(3.3 * side + 4) + 0.012 * sin(17 * side + 1);
    if (height < near_hill)
        return mix(colour(0x2c2f55), colour(0x4b3f68), 0.5 + ripple(4 * side, 30 * height, 0));
    if (height < far_hill)
        return mix(colour(0x6d5b86), colour(0xa9748d), (far_hill - height) / 0.10);
    return c;
}

/* ---- Things: spheres, and panels that stand on the floor ---- */

enum { BLANK, STRIPES, RIPPLES, CHART, PLATE, TILES };

typedef struct Hit {
    double distance;
    Vec point, normal, place; /* place: where on the thing, for its pattern */
    int pattern;
    unsigned rgb;
    double mirror, gloss;
} Hit;

typedef struct Sphere {
    Vec centre;
    double radius;
    unsigned rgb;
    int pattern;
    double mirror, gloss;
} Sphere;

static const Sphere spheres[] = {
    {{0.05, 0.95, 5.6}, 0.95, 0xf2f5ff, BLANK, 0.82, 0.9},
    {{-1.42, 0.42, 3.65}, 0.42, 0xd8402f, RIPPLES, 0.06, 0.5},
    {{1.56, 0.46, 3.95}, 0.46, 0x2a9d8f, STRIPES, 0.06, 0.6},
    {{0.52, 0.24, 3.50}, 0.24, 0xf2b632, BLANK, 0.15, 0.9},
    {{-0.62, 0.17, 3.35}, 0.17, 0x3d6bd6, BLANK, 0.10, 0.9},
};

typedef struct Panel {
    Vec corner; /* the lower left one */
    double width, height, angle;
    int pattern;
} Panel;

static const Panel panels[] = {
    {{-4.02, 0.35, 6.35}, 2.80, 2.80, 0.30, CHART},
    {{1.45, 0.30, 7.0}, 2.30, 2.30, -0.36, PLATE},
};

static Vec surface(const Hit *hit)
{
    Vec base = colour(hit->rgb), p = hit->place;
    switch (hit->pattern) {
    case STRIPES:
        return sin(15 * p.y + 4 * p.x) > 0 ? base : colour(0xf1faee);
    case RIPPLES:
        return mix(base, colour(0x4a0d12), 0.5 + 0.9 * ripple(3 * p.x, 3 * p.y, 3 * p.z));
    case CHART:
        return chart(p.x, p.y);
    case PLATE:
        return zone_plate(p.x, p.y);
    case TILES:
        return floor_colour(p.x, p.z);
    default:
        return base;
    }
}

static void meet_sphere(const Sphere *s, Vec from, Vec d, Hit *hit)
{
    Vec to = subtract(s->centre, from);
    double along = dot(to, d), rest = s->radius * s->radius - dot(to, to) + along * along;
    if (rest < 0)
        return;
    double distance = along - sqrt(rest);
    if (distance < 1e-4 || distance >= hit->distance)
        return;
    hit->distance = distance;
    hit->point = add(from, scale(d, distance));
    hit->normal = scale(subtract(hit->point, s->centre), 1 / s->radius);
    hit->place = hit->normal;
    hit->pattern = s->pattern;
    hit->rgb = s->rgb;
    hit->mirror = s->mirror;
    hit->gloss = s->gloss;
}

static void meet_panel(const Panel *panel, Vec from, Vec d, Hit *hit)
{
    Vec across = vec(cos(panel->angle), 0, sin(panel->angle));
    Vec normal = vec(sin(panel->angle), 0, -cos(panel->angle));
    double slope = dot(d, normal);
    double distance = dot(subtract(panel->corner, from), normal) / slope;
    if (!(distance > 1e-4 && distance < hit->distance))
        return;
    Vec p = add(from, scale(d, distance)), inside = subtract(p, panel->corner);
    double u = dot(inside, across) / panel->width, v = 1 - inside.y / panel->height;
    if (u < 0 || u >= 1 || v < 0 || v >= 1)
        return;
    hit->distance = distance;
    hit->point = p;
    hit->normal = slope < 0 ? normal : scale(normal, -1);
    hit->place = vec(u, v, 0);
    hit->pattern = slope < 0 ? panel->pattern : BLANK;
    hit->rgb = 0x3a3f55;
    hit->mirror = hit->gloss = 0;
}

static Hit nearest_hit(Vec from, Vec d)
{
    Hit hit = {.distance = HUGE_VAL};
    if (d.y < -1e-9) {
        hit.distance = -from.y / d.y;
        hit.point = hit.place = add(from, scale(d, hit.distance));
        hit.normal = vec(0, 1, 0);
        hit.pattern = TILES;
        hit.mirror = 0.10;
    }
    for (size_t i = 0; i < sizeof spheres / sizeof spheres[0]; i++)
        meet_sphere(&spheres[i], from, d, &hit);
    for (size_t i = 0; i < sizeof panels / sizeof panels[0]; i++)
        meet_panel(&panels[i], from, d, &hit);
    return hit;
}

static Vec trace(Vec from, Vec d, int depth)
{
    Hit hit = nearest_hit(from, d);
    if (hit.distance == HUGE_VAL)
        return sky(d);
    Vec sun = unit(light);
    double facing = clamp(dot(hit.normal, sun), 0, 1);
    if (facing > 0 && nearest_hit(add(hit.point, scale(hit.normal, 1e-3)), sun).distance < HUGE_VAL)
        facing = 0;
    Vec c = scale(surface(&hit), 0.28 + 0.85 * facing);
    Vec bounce = subtract(d, scale(hit.normal, 2 * dot(d, hit.normal)));
    if (hit.mirror > 0 && depth > 0)
        c = mix(c, trace(add(hit.point, scale(hit.normal, 1e-3)), bounce, depth - 1), hit.mirror);
    if (facing > 0 && hit.gloss > 0)
        c = add(c, scale(vec(1, 1, 1), hit.gloss * pow(clamp(dot(bounce, sun), 0, 1), 60)));
    /* Far away the floor fades into the haze. */
    return mix(c, colour(0xc98f8f), 1 - exp(-0.0009 * hit.distance * hit.distance));
}

/* The colour at (x, y) of the picture, both 0..1, in light; the middle of the scene is what a 4:3
 * picture shows, other shapes see more of it. */
static Vec look(double x, double y, double width, double height)
{
    double zoom = fmax(1 / width, 0.75 / height) * 0.5 * width; /* half the field's width */
    double half_x = 0.62 * zoom * 2, half_y = half_x * height / width;
    Vec d = vec((2 * x - 1) * half_x, (1 - 2 * y) * half_y + 0.02, 1.0);
    return trace(vec(0, 1.35, -0.4), unit(d), 3);
}

/* ---- Pictures ---- */

typedef struct Kind {
    const char *name;
    int png_type, channels, depth;
} Kind;

static const Kind kinds[] = {
    {"gray8", PNG_COLOR_TYPE_GRAY, 1, 8},        {"ga8", PNG_COLOR_TYPE_GRAY_ALPHA, 2, 8},
    {"rgb8", PNG_COLOR_TYPE_RGB, 3, 8},          {"rgba8", PNG_COLOR_TYPE_RGB_ALPHA, 4, 8},
    {"gray16", PNG_COLOR_TYPE_GRAY, 1, 16},      {"rgb16", PNG_COLOR_TYPE_RGB, 3, 16},
    {"rgba16", PNG_COLOR_TYPE_RGB_ALPHA, 4, 16},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Opacity: a soft hole, left of the middle, wholly transparent inside. */
static double opacity(double x, double y)
{
    double r = hypot(x - 0.36, (y - 0.45) * 0.75);
    double t = clamp((r - 0.10) / 0.14, 0, 1);
    return t * t * (3 - 2 * t);
}

static void put(unsigned char **out, int depth, double v)
{
    double top = depth == 8 ? 255 : 65535;
    unsigned sample = (unsigned)(clamp(v, 0, 1) * top + 0.5);
    if (depth == 16)
        *(*out)++ = (unsigned char)(sample >> 8);
    *(*out)++ = (unsigned char)(sample & 255);
}

/* One row of a picture as PNG wants it. `rays` x `rays` rays a pixel. */
static void render_row(const Kind *kind, uint32_t y, uint32_t width, uint32_t height, int rays,
                       unsigned char *out)
{
    for (uint32_t x = 0; x < width; x++) {
        Vec c = {0, 0, 0};
        for (int i = 0; i < rays * rays; i++) {
            double sx = (x + (i % rays + 0.5) / rays) / width;
            double sy = (y + (i / rays + 0.5) / rays) / height;
            Vec ray = look(sx, sy, width, height);
            c = add(c, vec(fmin(ray.x, 1), fmin(ray.y, 1), fmin(ray.z, 1)));
        }
        c = scale(c, 1.0 / (rays * rays));
        double noise = 0.003; /* as dither: less than a step of 8 bits */
        double rgb[3] = {sqrt(c.x) + noise * grain(x, y, 0), sqrt(c.y) + noise * grain(x, y, 1),
                         sqrt(c.z) + noise * grain(x, y, 2)};
        if (kind->channels >= 3)
            for (int k = 0; k < 3; k++)
                put(&out, kind->depth, rgb[k]);
        else
            put(&out, kind->depth, 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]);
        if (kind->channels % 2 == 0)
            put(&out, kind->depth, opacity((x + 0.5) / width, (y + 0.5) / height));
    }
}

/* Writes the rows; false when libpng failed (it has said why). */
static int write_rows(FILE *file, const Kind *kind, uint32_t width, uint32_t height,
                      unsigned char *row)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return 0;
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, width, height, kind->depth, kind->png_type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    int small = (double)width * height <= 1e6;
    int rays = small ? 5 : 2;
    png_set_compression_level(png, small ? 9 : 4);
    png_write_info(png, info);
    for (uint32_t y = 0; y < height; y++) {
        render_row(kind, y, width, height, rays, row);
        png_write_row(png, row);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return 1;
}

static int write_picture(const char *path, const Kind *kind, uint32_t width, uint32_t height)
{
    FILE *file = fopen(path, "wb");
    unsigned char *row = malloc((size_t)width * 8);
    int good = file && row && write_rows(file, kind, width, height, row);
    free(row);
    if (file && fclose(file) != 0)
        good = 0;
    if (!good)
        perror(path);
    return good;
}

static const Kind *find_kind(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static int usage(void)
{
    fputs("usage: scene DIRECTORY\n       scene --size WxH --kind KIND FILE\nkinds:", stderr);
    for (int i = 0; i < KINDS; i++)
        fprintf(stderr, " %s", kinds[i].name);
    fputs("\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] != '-') {
        for (int i = 0; i < KINDS; i++) {
            char path[4096];
            int n = snprintf(path, sizeof path, "%s/scene-%s.png", argv[1], kinds[i].name);
            if (n >= (int)sizeof path || !write_picture(path, &kinds[i], 512, 384))
                return 1;
        }
        return 0;
    }
    unsigned width, height;
    if (argc != 6 || strcmp(argv[1], "--size") != 0 || strcmp(argv[3], "--kind") != 0 ||
        sscanf(argv[2], "%ux%u", &width, &height) != 2 || width == 0 || height == 0 ||
        width > 1000000 || height > 1000000 || !find_kind(argv[4]))
        return usage();
    return write_picture(argv[5], find_kind(argv[4]), width, height) ? 0 : 1;
}
