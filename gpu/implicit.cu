/* Method `implicit`: the matrix product of `im2col` whose unrolled matrix is never in memory, as
 * Hwu, Kirk and El Hajj, "Programming Massively Parallel Processors", 16.4, describe the method of
 * cuDNN: filters (maps x taps) times columns (taps x positions), where a block makes of the columns
 * only the tiles that it is about to use, in shared memory, straight from the pictures. Tiling is
 * joint: a block has a tile of maps x positions in shared memory, a thread a smaller one in
 * registers, so that a number from shared memory serves 4 or 8 multiply-adds. While one stage of
 * STEP taps is used, the next is on its way from memory.
 *
 * Positions are counted in fours, through rows and pictures, so that small pictures fill tiles too;
 * the last four of a row may have fewer. Which sample a tap of the product is (channel, row and
 * column of the kernel) is worked out once for all positions of a tile, from the tap before: no
 * division.
 *
 * Costs for a tile of M maps and P positions, and a tap: M + P numbers read, M * P multiply-adds.
 * Where positions are few, tiles are small and teams of a block share their taps
 * (gpu/problem.cuh); and where there are few tiles, so do the blocks of a cluster. */
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

constexpr int STEP = GF_IMPLICIT_STEP;
constexpr int BEYOND = INT_MIN / 2; /* row of a tap that fills up the last stage */

/* So many taps further on, and the same as channels, rows and columns of the kernel. */
struct Stride {
    int taps, channel, y, x;
};

/* The product of a step. */
template <typename Sum> struct Product {
    GfProblem<Sum> p;
    size_t fours, row_fours, rows; /* of positions: in all, and of a row; rows of a picture */
    int taps, chain, chains;       /* of a filter; `chain` is a multiple of STEP */
    int maps, map_tiles, groups;
    int cluster;         /* blocks that share a tile's chains: 1, 2, 4 or 8 */
    bool shared_filters; /* a bank: groups are channels, through the same filters */
    int width, height;   /* of the input */
    int wrap_row;        /* from this row on, input rows lie `wrap` bytes before */
    long long wrap, stride, pixel, plane; /* bytes */
    int step_x;                           /* pixels and bytes from a window to the next */
    long long step;
    Stride next, jump; /* to the next stage, and to a team's next chain */
    GfSample sample;
    bool mends;          /* the border is no constant */
    bool vector;         /* every fourth tap of every filter lies on a vector */
    size_t filters_step; /* taps from the filters that a thread brings to the next of them */
};

/* A tap of the product: what it adds to the address and place of a window's first sample. */
struct alignas(16) Tap {
    long long offset; /* bytes, its channel's plane included */
    int y, x;
};

/* One of the first STEP threads of a team makes a tap of each stage: tap k, which is this one. */
struct alignas(16) Follower {
    int k, channel, y, x;
};

/* The windows of four positions: the first one's first sample. Where there are no positions, y is
 * BEYOND. */
struct Site {
    const char *at; /* as if rows went on where a ring turns */
    int y, x;
};

/* Maps x positions of a block and of a thread, and its teams. */
template <typename S, int MAPS, int POSITIONS, int THREAD_MAPS, int THREAD_POSITIONS, int TEAMS,
          int BLOCKS>
struct Tile {
    using Sum = S;
    static constexpr GfImplicitTile own =
        gf_implicit_tile(MAPS, POSITIONS, THREAD_MAPS, THREAD_POSITIONS, TEAMS, BLOCKS, sizeof(S));
    static constexpr int maps = MAPS, thread_maps = THREAD_MAPS, teams = TEAMS;
    static constexpr int blocks = BLOCKS; /* on a multiprocessor: bounds a thread's registers */
    static constexpr int team = own.team, threads = own.threads;
    /* A thread's tile is made of squares of 4 x 4, so many down and across, as far apart as can be;
     * and a warp is lanes_y x lanes_x threads: what its threads read at once lies side by side. */
    static constexpr int down = THREAD_MAPS / 4, across = THREAD_POSITIONS / 4;
    static constexpr int threads_y = MAPS / THREAD_MAPS, threads_x = POSITIONS / THREAD_POSITIONS;
    static constexpr int lanes_x = threads_x < 8 ? threads_x : threads_y >= 4 ? 8 : 32 / threads_y;
    static constexpr int lanes_y = 32 / lanes_x, warps_x = threads_x / lanes_x;
    static constexpr int pitch = MAPS + 4; /* so that transposing filters meets all banks */
    /* What a thread brings of a stage: four positions of some taps, four taps of some filters. */
    static constexpr int fours = own.fours, taps = own.taps;
    static constexpr int filters = (own.weights + team - 1) / team, weights = own.weights;
    static constexpr bool shared = own.shared; /* may blocks share it? */
    static_assert(warps_x * lanes_x == threads_x && team % 32 == 0);
    static_assert(threads_y % lanes_y == 0 && taps * team == STEP * fours);
};

/* A team's part of a stage. */
template <typename T> struct alignas(16) Stage {
    typename T::Sum filters[STEP][T::pitch];
    GfFour<typename T::Sum> columns[STEP][T::fours];
    Tap taps[STEP];
};

/* Which tile a block has. */
struct Corner {
    int group, map; /* the first map, within its group */
    size_t four;    /* the first positions */
};

/* Sums of a block's tile. */
template <typename T> using Sums = GfFour<typename T::Sum>[T::thread_maps * T::across][T::team];

/* Behind it, where blocks share a tile: the sums of each team's chain. */
template <typename T> struct Shared {
    Sums<T> totals;
    Stage<T> stages[2][T::teams];
    Follower followers[T::teams][STEP];
    Corner corner; /* kept here, since registers are short */
};

/* Numbers of the next stage on their way from memory. */
template <typename T> struct Load {
    GfFour<typename T::Sum> columns[T::taps], filters[T::filters];
};

/* What a thread does in its block. */
template <typename T> struct Place {
    int team, t;
    int slot; /* of the teams that share the tile: it has the chains slot, slot + slots, ... */
    int map_at, four_at; /* of its own tile, within the block's */
    Site site;           /* of the positions that it brings */
    const typename T::Sum *filter;
    int filters; /* from that one on */
};

/* ---- windows ---- */

/* Where four positions are: picture n, row y of it, from x on. */
struct Spot {
    size_t n, y;
    long long x;
    int count; /* 0 beyond the last */
};

template <typename Sum> __device__ Spot find_spot(const Product<Sum> &q, size_t four)
{
    size_t row = four / q.row_fours;
    long long x = static_cast<long long>(four % q.row_fours) * 4, rest = q.p.out_width - x;
    int count = four >= q.fours ? 0 : rest < 4 ? static_cast<int>(rest) : 4;
    return {row / q.rows, q.p.y0 + row % q.rows, x, count};
}

template <typename Sum> __device__ Site find_site(const Product<Sum> &q, size_t four, int channel)
{
    Spot spot = find_spot(q, four);
    long long y = static_cast<long long>(spot.y) * q.p.stride_y + q.p.origin_y;
    long long x = spot.x * q.p.stride_x + q.p.origin_x;
    long long offset = (y - static_cast<long long>(q.p.in.first)) * q.stride + x * q.pixel +
                       channel * q.plane + static_cast<long long>(spot.n * q.p.in.batch);
    return {static_cast<const char *>(q.p.in.samples) + offset,
            spot.count > 0 ? static_cast<int>(y) : BEYOND, static_cast<int>(x)};
}

template <typename Sum> __device__ bool is_inside(const Product<Sum> &q, int y, int x)
{
    return static_cast<unsigned>(y) < static_cast<unsigned>(q.height) &&
           static_cast<unsigned>(x) < static_cast<unsigned>(q.width);
}

/* A tap's samples for four positions: outside the picture the border's constant, but 0 where there
 * is no tap. */
template <typename In, typename Sum>
__device__ GfFour<Sum> fetch(const Product<Sum> &q, const Site &site, const Tap &tap)
{
    Sum fill = tap.y == BEYOND ? 0 : q.p.border_value;
    GfFour<Sum> four = {fill, fill, fill, fill};
    int y = site.y + tap.y, x = site.x + tap.x;
    const char *at = site.at + tap.offset - (y >= q.wrap_row ? q.wrap : 0);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (is_inside(q, y, x))
            four.v[i] = gf_number_at<Sum, In>(at, q.sample);
        x += q.step_x;
        at += q.step;
    }
    return four;
}

/* A sample outside the picture by the border's rule, which is no constant. */
template <typename In, typename Sum>
__device__ Sum fetch_outside(const Product<Sum> &q, const Site &site, const Tap &tap, int i)
{
    long long y = site.y + tap.y, x = site.x + tap.x + i * q.step_x;
    long long to_y = gf_border_index(y, q.height, q.p.border);
    long long to_x = gf_border_index(x, q.width, q.p.border);
    const char *at = site.at + tap.offset + i * q.step;
    at += (to_y - y) * q.stride + (to_x - x) * q.pixel;
    return gf_number_at<Sum, In>(to_y >= q.wrap_row ? at - q.wrap : at, q.sample);
}

/* ---- taps ---- */

template <typename Sum> __device__ Follower follow_from(const Product<Sum> &q, int k)
{
    int area = q.p.height * q.p.width;
    return {k, k / area, k % area / q.p.width, k % q.p.width};
}

template <typename Sum>
__device__ void advance(const Product<Sum> &q, const Stride &stride, Follower *f)
{
    f->k += stride.taps;
    f->x += stride.x;
    f->y += stride.y;
    f->channel += stride.channel;
    if (f->x >= q.p.width) {
        f->x -= q.p.width;
        f->y++;
    }
    if (f->y >= q.p.height) {
        f->y -= q.p.height;
        f->channel++;
    }
}

template <typename Sum> __device__ Tap tap_of(const Product<Sum> &q, const Follower &f)
{
    int y = f.y * static_cast<int>(q.p.dilation_y), x = f.x * static_cast<int>(q.p.dilation_x);
    if (f.k >= q.taps)
        return {0, BEYOND, 0};
    return {f.channel * q.plane + y * q.stride + x * q.pixel, y, x};
}

/* ---- a block ---- */

/* Blocks that share a tile. */
template <typename T, typename Sum> __device__ int cluster_of(const Product<Sum> &q)
{
    return T::shared ? q.cluster : 1;
}

template <typename T, typename Sum> __device__ Corner my_corner(const Product<Sum> &q)
{
    unsigned tile = blockIdx.x >> (__ffs(cluster_of<T>(q)) - 1);
    unsigned maps = static_cast<unsigned>(q.map_tiles);
    unsigned groups = static_cast<unsigned>(q.groups), rest = tile / maps;
    return {static_cast<int>(rest % groups), static_cast<int>(tile % maps) * T::maps,
            static_cast<size_t>(rest / groups) * T::fours};
}

template <typename T, typename Sum>
__device__ Place<T> my_place(const Product<Sum> &q, const Corner &corner)
{
    Place<T> place;
    place.team = static_cast<int>(threadIdx.x) / T::team;
    place.t = static_cast<int>(threadIdx.x) % T::team;
    place.slot =
        place.team * cluster_of<T>(q) + (static_cast<int>(blockIdx.x) & (cluster_of<T>(q) - 1));
    int warp = place.t / 32, lane = place.t % 32, map = corner.map + place.t / (STEP / 4);
    place.map_at = (warp / T::warps_x * T::lanes_y + lane / T::lanes_x) * 4;
    place.four_at = warp % T::warps_x * T::lanes_x + lane % T::lanes_x;
    place.site = find_site(q, corner.four + place.t % T::fours, corner.group * q.p.depth);
    place.filters = q.maps - map;
    map += q.shared_filters ? 0 : corner.group * q.maps;
    place.filter = q.p.weights + static_cast<size_t>(map) * q.taps + place.t % (STEP / 4) * 4;
    return place;
}

/* Taps [k, k + STEP) of the product, which `taps` describes; 0 from the last one on. */
template <typename T, typename In, typename Sum>
__device__ void load(const Product<Sum> &q, const Place<T> &place, const Tap *taps, int k,
                     Load<T> *load)
{
#pragma unroll
    for (int i = 0; i < T::taps; i++)
        load->columns[i] =
            fetch<In>(q, place.site, taps[place.t / T::fours + i * (STEP / T::taps)]);
    const Sum *filter = place.filter + k;
    int rest = q.taps - k - place.t % (STEP / 4) * 4;
#pragma unroll
    for (int i = 0; i < T::filters; i++) {
        GfFour<Sum> four = {};
        bool mine = T::weights % T::team == 0 || place.t + i * T::team < T::weights;
        if (mine && i * (T::team / (STEP / 4)) < place.filters) {
            if (q.vector && rest > 0)
                four = *reinterpret_cast<const GfFour<Sum> *>(filter);
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (!q.vector && j < rest)
                    four.v[j] = filter[j];
        }
        load->filters[i] = four;
        filter += q.filters_step;
    }
}

template <typename T>
__device__ void store(const Place<T> &place, const Load<T> &load, Stage<T> *stage)
{
#pragma unroll
    for (int i = 0; i < T::taps; i++)
        stage->columns[place.t / T::fours + i * (STEP / T::taps)][place.t % T::fours] =
            load.columns[i];
#pragma unroll
    for (int i = 0; i < T::filters; i++)
        if (T::weights % T::team == 0 || place.t + i * T::team < T::weights)
#pragma unroll
            for (int j = 0; j < 4; j++)
                stage->filters[place.t % (STEP / 4) * 4 + j]
                              [place.t / (STEP / 4) + i * (T::team / (STEP / 4))] =
                    load.filters[i].v[j];
}

/* Borders that mirror or repeat the picture: met by few positions, and not worth the registers that
 * they would cost the others. */
template <typename T, typename In, typename Sum>
__device__ void mend(const Product<Sum> &q, const Place<T> &place, Stage<T> *stage)
{
#pragma unroll 1
    for (int i = 0; i < T::taps * 4; i++) {
        int k = place.t / T::fours + i / 4 * (STEP / T::taps);
        Tap tap = stage->taps[k];
        bool real = place.site.y != BEYOND && tap.y != BEYOND;
        if (real && !is_inside(q, place.site.y + tap.y, place.site.x + tap.x + i % 4 * q.step_x))
            stage->columns[k][place.t % T::fours].v[i % 4] =
                fetch_outside<In>(q, place.site, tap, i % 4);
    }
}

template <typename T>
__device__ void multiply(const Place<T> &place, const Stage<T> &stage,
                         GfFour<typename T::Sum> (&sums)[T::thread_maps * T::across])
{
    using Four = GfFour<typename T::Sum>;
#pragma unroll
    for (int k = 0; k < STEP; k++) {
        Four a[T::down], b[T::across];
#pragma unroll
        for (int i = 0; i < T::down; i++)
            a[i] = *reinterpret_cast<const Four *>(
                &stage.filters[k][i * (T::maps / T::down) + place.map_at]);
#pragma unroll
        for (int j = 0; j < T::across; j++)
            b[j] = stage.columns[k][j * (T::fours / T::across) + place.four_at];
#pragma unroll
        for (int m = 0; m < T::thread_maps; m++)
#pragma unroll
            for (int j = 0; j < T::across; j++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    auto &sum = sums[m * T::across + j].v[i];
                    sum = fma(a[m / 4].v[m % 4], b[j].v[i], sum);
                }
    }
}

/* The teams that share a tile share its totals, too: the first map of a thread's j-th positions
 * whose total is this team's; the next is `slots` further on. */
template <typename T> __device__ int my_first_map(const Place<T> &place, int slots, int j)
{
    return (place.slot - j * T::thread_maps) & (slots - 1);
}

/* Adds the chains from chain `first` on, of all teams of the cluster's blocks, in their order to
 * the totals. */
template <typename T, typename Sum>
__device__ void add_chains(const Product<Sum> &q, const Place<T> &place, Shared<T> &shared,
                           const GfFour<Sum> (&sums)[T::thread_maps * T::across], int first)
{
    if (cluster_of<T>(q) == 1)
        return gf_add_chains<T::team, T::teams>(shared.totals, sums, place.team, place.t,
                                                first + place.team, q.chains);
    Sums<T> *parts = reinterpret_cast<Sums<T> *>(&shared + 1);
    const int slots = T::teams * q.cluster, count = min(slots, q.chains - first);
#pragma unroll
    for (int i = 0; i < T::thread_maps * T::across; i++)
        parts[place.team][i][place.t] = sums[i];
    gf_wait_for_cluster();
    for (int j = 0; j < T::across; j++)
#pragma unroll 1
        for (int m = my_first_map(place, slots, j); m < T::thread_maps; m += slots) {
            const int i = m * T::across + j;
            GfFour<Sum> total = first > 0 ? shared.totals[i][place.t] : GfFour<Sum>{};
            int team = 0, rank = 0;
#pragma unroll 8
            for (int slot = 0; slot < count; slot++) {
                const GfFour<Sum> part = *gf_in_block(&parts[team][i][place.t], rank);
#pragma unroll
                for (int k = 0; k < 4; k++)
                    total.v[k] += part.v[k];
                rank = rank + 1 < q.cluster ? rank + 1 : 0;
                team += rank == 0;
            }
            shared.totals[i][place.t] = total;
        }
    gf_wait_for_cluster(); /* until all have read what is kept here */
}

/* Totals become samples. */
template <typename T, typename Sum>
__device__ void finish(const Product<Sum> &q, const Place<T> &place, const Shared<T> &shared)
{
    Corner corner = shared.corner;
    const int slots = T::teams * cluster_of<T>(q);
    for (int j = 0; j < T::across; j++) {
        Spot spot = find_spot(q, corner.four + j * (T::fours / T::across) + place.four_at);
#pragma unroll 1
        for (int m = my_first_map(place, slots, j); m < T::thread_maps; m += slots) {
            int map = corner.map + m / 4 * (T::maps / T::down) + place.map_at + m % 4;
            GfFour<Sum> r = shared.totals[m * T::across + j][place.t];
#pragma unroll
            for (int i = 0; i < 4; i++)
                r.v[i] = fma(r.v[i], q.p.finish.scale, q.p.finish.offset);
            if (map < q.maps && spot.count > 0)
                gf_finish_fours<1>(q.p, spot.n, corner.group * q.maps + map, spot.x, spot.y, r.v,
                                   spot.count);
        }
    }
}

/* ---- stages ---- */

/* Stages of the chains that begin with chain `first`: a round, in which each team has a chain. In
 * the last round chains may be short, or missing. */
template <typename Sum> __device__ int stages_of(const Product<Sum> &q, int first)
{
    int taps = q.taps - first * q.chain;
    return ((taps < q.chain ? taps : q.chain) + STEP - 1) / STEP;
}

/* What was loaded becomes a stage; its taps are there already. */
template <typename T, typename In, typename Sum>
__device__ void store_stage(const Product<Sum> &q, const Place<T> &place, const Load<T> &load,
                            Stage<T> *stage)
{
    store(place, load, stage);
    if (q.mends)
        mend<T, In>(q, place, stage);
}

template <typename T, typename In>
__global__ void __launch_bounds__(T::threads, T::blocks)
    implicit(const __grid_constant__ Product<typename T::Sum> q)
{
    GF_BLOCK_MEMORY(__align__(16) unsigned char, memory);
    Shared<T> &shared = *reinterpret_cast<Shared<T> *>(memory);
    Corner corner = my_corner<T>(q);
    Place<T> place = my_place<T>(q, corner);
    Stage<T> *now = &shared.stages[0][place.team], *then = &shared.stages[1][place.team];
    Load<T> next;
    int k = place.slot * q.chain;
    if (threadIdx.x == 0)
        shared.corner = corner;
    if (place.t < STEP) {
        Follower follower = follow_from(q, k + place.t);
        now->taps[place.t] = tap_of(q, follower);
        advance(q, q.next, &follower);
        then->taps[place.t] = tap_of(q, follower);
        shared.followers[place.team][place.t] = follower;
    }
    __syncthreads();
    gf_wait_for_stream();
    load<T, In>(q, place, now->taps, k, &next);
    store_stage<T, In>(q, place, next, now);
    __syncthreads();
#pragma unroll 1
    for (int first = 0; first < q.chains; first += T::teams * cluster_of<T>(q)) {
        GfFour<typename T::Sum> sums[T::thread_maps * T::across] = {};
#pragma unroll 1
        for (int stages = stages_of(q, first); stages > 0; stages--) {
            k += stages > 1 ? STEP : q.jump.taps;
            load<T, In>(q, place, then->taps, k, &next); /* zeros, beyond the last tap */
            multiply(place, *now, sums);
            if (place.t < STEP) {
                Follower follower = shared.followers[place.team][place.t];
                advance(q, stages == 2 ? q.jump : q.next, &follower);
                now->taps[place.t] = tap_of(q, follower);
                shared.followers[place.team][place.t] = follower;
            }
            store_stage<T, In>(q, place, next, then);
            __syncthreads();
            Stage<T> *done = now;
            now = then;
            then = done;
        }
        add_chains(q, place, shared, sums, first);
    }
    finish(q, place, shared);
}

/* ---- a launch ---- */

template <typename Sum> Stride stride_of(const Product<Sum> &q, int taps)
{
    int area = q.p.height * q.p.width;
    return {taps, taps / area, taps % area / q.p.width, taps % q.p.width};
}

template <typename Sum> void describe_input(const GfLaunch *launch, Product<Sum> *q)
{
    const GfStep *step = launch->step;
    size_t size = gf_sample_size(step->in), wrap = launch->in.first + launch->in.capacity;
    q->sample = step->in;
    q->width = static_cast<int>(step->in_width);
    q->height = static_cast<int>(step->in_height);
    q->wrap_row = wrap > INT_MAX ? INT_MAX : static_cast<int>(wrap);
    q->stride = static_cast<long long>(launch->in.stride);
    q->wrap = static_cast<long long>(launch->in.capacity) * q->stride;
    q->pixel = static_cast<long long>(launch->in.pixel * size);
    q->plane = static_cast<long long>(launch->in.plane * size);
    q->step_x = static_cast<int>(step->stride_x);
    q->step = q->step_x * q->pixel;
    q->mends = step->border < GF_BORDER_CONSTANT;
}

/* Of tiles that so many blocks share. */
template <typename T> Product<typename T::Sum> product_of(const GfLaunch *launch, int cluster)
{
    const GfStep *step = launch->step;
    bool layer = gf_step_is_layer(step);
    Product<typename T::Sum> q = {};
    q.p = gf_problem<typename T::Sum>(launch);
    q.rows = launch->y1 - launch->y0;
    q.row_fours = (step->out_width + 3) / 4;
    q.fours = q.row_fours * q.rows * launch->count;
    q.maps = layer ? q.p.maps_per_group : 1;
    q.map_tiles = (q.maps + T::maps - 1) / T::maps;
    q.groups = layer ? static_cast<int>(step->linear.groups) : q.p.channels;
    q.shared_filters = !layer;
    q.taps = static_cast<int>(gf_linear_taps(&step->linear));
    q.chain = static_cast<int>(gf_implicit_chain(step, launch->wide));
    q.chains = (q.taps + q.chain - 1) / q.chain;
    q.vector = q.taps % 4 == 0 && reinterpret_cast<uintptr_t>(launch->weights) % 16 == 0;
    q.filters_step = static_cast<size_t>(q.taps) * (T::team / (STEP / 4));
    q.cluster = cluster;
    q.jump = stride_of(q, (T::teams * cluster - 1) * q.chain + STEP);
    q.next = q.chain > STEP ? stride_of(q, STEP) : q.jump;
    describe_input(launch, &q);
    return q;
}

template <typename T> size_t blocks_of(const Product<typename T::Sum> &q)
{
    return (q.fours + T::fours - 1) / T::fours * static_cast<size_t>(q.map_tiles) *
           static_cast<size_t>(q.groups) * static_cast<size_t>(q.cluster);
}

template <typename T> size_t bytes_of(const Product<typename T::Sum> &q)
{
    return sizeof(Shared<T>) + (q.cluster > 1 ? T::teams * sizeof(Sums<T>) : 0);
}

template <typename T, typename In>
cudaError_t run(const GfLaunch *launch, size_t cluster, cudaStream_t stream)
{
    static_assert(sizeof(Shared<T>) == T::own.bytes && sizeof(Sums<T>) == T::own.sums_bytes);
    const Product<typename T::Sum> q = product_of<T>(launch, static_cast<int>(cluster));
    size_t blocks = blocks_of<T>(q);
    /* More than a grid may have are none: the launch fails. */
    dim3 grid(blocks > INT_MAX ? 0 : static_cast<unsigned>(blocks));
    const auto kernel = implicit<T, In>;
    return gf_launch_early(
        kernel,
        gf_spread(kernel, {grid, T::threads, bytes_of<T>(q), static_cast<unsigned>(q.cluster)}),
        stream, q);
}

template <typename T>
cudaError_t run_narrow(const GfLaunch *launch, size_t cluster, cudaStream_t stream)
{
    return launch->step->in == GF_F32 ? run<T, float>(launch, cluster, stream)
                                      : run<T, void>(launch, cluster, stream);
}

#define ROW(MAPS, POSITIONS, THREAD_MAPS, THREAD_POSITIONS, TEAMS, BLOCKS)                         \
    run_narrow<Tile<float, MAPS, POSITIONS, THREAD_MAPS, THREAD_POSITIONS, TEAMS, BLOCKS>>,

cudaError_t (*const launchers[])(const GfLaunch *launch, size_t cluster,
                                 cudaStream_t stream) = {GF_IMPLICIT_TILES(ROW)};

} // namespace

extern "C" cudaError_t gf_launch_implicit(const GfLaunch *launch, cudaStream_t stream)
{
    if (launch->tiling > (launch->wide ? 0 : size_t{GF_IMPLICIT_TILINGS}))
        return cudaErrorNotSupported;
    if (launch->wide) /* in one chain, which blocks cannot share */
        return run<Tile<double, GF_IMPLICIT_WIDE>, void>(launch, 1, stream);
    const GfTask task = gf_task_of(launch);
    GfImplicitCut cut = {};
    gf_implicit_cycles(&task, launch->tiling, &cut);
    return launchers[cut.tiling](launch, cut.cluster, stream);
}
