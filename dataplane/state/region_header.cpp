#include "dataplane/state/region_header.hpp"

#include "dataplane/read_clock.hpp"
#include "dataplane/state/state_shape.hpp"
#include "lib/share/core.hpp"

#include <fstream>

namespace sluice {
namespace {

constexpr std::array<char, 8> kMagic{'S', 'L', 'U', 'I', 'C', 'E', 'S', 'T'};
// Raised whenever an entry, a line's state or anything before them changes its form.
constexpr std::uint32_t kLayoutVersion = 5;
// Beside the number of workers: there are records for the store of a cluster.
constexpr std::uint32_t kTellsStore = std::uint32_t{1} << 31;
constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 32;

Error damaged(const char* what) {
    return {Errc::BadSyntax, what};
}

}  // namespace

std::array<char, 40> this_boot() {
    std::array<char, 40> id{};
    std::ifstream{"/proc/sys/kernel/random/boot_id"}.read(id.data(), id.size() - 1);
    return id;
}

RegionHeader RegionHeader::make(const StateShape& shape, std::uint64_t id) {
    return {.magic = kMagic,
            .layout = kLayoutVersion,
            .workers =
                static_cast<std::uint32_t>(shape.workers) | (shape.tells_store ? kTellsStore : 0),
            .boot_id = this_boot(),
            .id = id,
            .keys = shape.keys,
            .pool_lines = shape.pool_lines,
            .rss_mapping = shape.rss_mapping};
}

std::uint64_t RegionHeader::sum_now() const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(this);
    return siphash_1_3(HashSecret{}, ByteView{bytes, offsetof(RegionHeader, sum)});
}

Result<Done> RegionHeader::check() const {
    if (magic != kMagic || layout != kLayoutVersion) {
        return damaged("they are of another layout");
    }
    if (sum != sum_now()) {
        return damaged("their header is not as it was written");
    }
    // Sizes that others wrote: what follows from them must not overflow, and be found in files.
    const std::uint32_t count = workers & ~kTellsStore;
    const bool can_be = count != 0 && count <= kMaxCores && keys != 0 && keys <= kMostKeys &&
                        pool_lines <= kMostKeys;
    return can_be ? Result<Done>{Done{}} : damaged("their sizes cannot be");
}

Result<Done> RegionHeader::check_running() const {
    if (const Result<Done> whole = check(); !whole) {
        return whole;
    }
    if (!is_of_this_boot()) {
        return damaged("they are of an earlier boot");
    }
    const std::int64_t boot = read_clock(CLOCK_BOOTTIME).count();
    if (lead < -boot || lead > kLatestBegin.time_since_epoch().count() - boot) {
        return damaged("they are older than what they owe can be told for");
    }
    return Done{};
}

bool RegionHeader::is_of_this_boot() const {
    return boot_id == this_boot();
}

bool RegionHeader::has_shape(const StateShape& shape) const noexcept {
    const StateShape mine = this->shape();
    return mine.workers == shape.workers && mine.tells_store == shape.tells_store &&
           keys == shape.keys && pool_lines == shape.pool_lines && rss_mapping == shape.rss_mapping;
}

StateShape RegionHeader::shape() const noexcept {
    return {.workers = workers & ~kTellsStore,
            .keys = keys,
            .pool_lines = pool_lines,
            .rss_mapping = rss_mapping,
            .tells_store = (workers & kTellsStore) != 0};
}

}  // namespace sluice
