#include "tests/bench/aged_table.hpp"
#include "tests/bench/fill_until_refusal.hpp"
#include "tests/bench/roof.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// T1 to T4: the bucket table beside the limit that memory sets and beside rte_hash with rte_meter.
// Prints one JSON object a line.
namespace sluice::bench {
namespace {

struct Options {
    std::vector<std::string> ids;
    int rounds = 5;
    std::size_t operations = std::size_t{1} << 24;
    bool quick = false;

    [[nodiscard]] bool wants(std::string_view id) const {
        return ids.empty() || std::find(ids.begin(), ids.end(), id) != ids.end();
    }
};

struct Size {
    std::size_t keys;
    std::string_view name;
    std::string_view id;  // of the bar it counts for
};
constexpr Size kSizes[] = {{std::size_t{1} << 10, "2^10", ""},
                           {std::size_t{1} << 16, "2^16", ""},
                           {std::size_t{1} << 20, "2^20", "T1"},
                           {std::size_t{1} << 23, "2^23", "T2"},
                           {std::size_t{1} << 25, "2^25", "T2"}};

void print_row(const Side& side, std::string_view id, const Size& size, const Side* reference) {
    const double value = 1000 / side.median();
    std::printf(
        "{\"id\": \"%.*s\", \"case\": \"%s, %.*s keys\", \"value\": %.2f, \"unit\": \"M/s\"",
        static_cast<int>(id.size()), id.data(), side.name.c_str(),
        static_cast<int>(size.name.size()), size.name.data(), value);
    if (reference != nullptr) {
        std::printf(", \"reference\": \"%s\", \"reference_value\": %.2f, \"ratio\": %.3f",
                    reference->name.c_str(), 1000 / reference->median(),
                    reference->median() / side.median());
    }
    std::printf(", \"rounds\": %s, \"plot\": \"keys\", \"x\": %zu, \"series\": \"%s\"}\n",
                list_of(side.rounds).c_str(), size.keys, side.name.c_str());
    std::fflush(stdout);
}

// One size: table, both roofs and, where it fits, DPDK's; then the same table full of live keys.
void measure(const Size& size, const Options& options) {
    AgedTable table{size.keys};
    Roof roof{table.store().keys.bytes()};
    std::unique_ptr<RteReference> reference;
    if (size.keys <= std::size_t{1} << 23) {
        reference = std::make_unique<RteReference>(size.keys);
    }
    Random random{size.keys};
    const std::size_t operations =
        std::max(options.operations, size.keys * (options.quick ? 1 : 2));
    const std::size_t bursts = operations / AgedTable::kBurst;
    std::vector<Side> sides;
    sides.push_back(
        {"table", [&] { return ns_per(operations, [&] { table.run(bursts, random); }); }});
    sides.push_back(
        {"roof", [&] { return ns_per(operations, [&] { roof.within_bursts(bursts, random); }); }});
    sides.push_back({"roof a burst ahead",
                     [&] { return ns_per(operations, [&] { roof.ahead(bursts, random); }); }});
    if (reference) {
        sides.push_back({"rte_hash + rte_meter", [&] {
                             return ns_per(operations, [&] { reference->run(bursts, random); });
                         }});
    }
    (void)sides[0].measure();  // page faults and cold caches
    const std::uint64_t added = table.added();
    run_rounds(sides, options.rounds);
    const std::uint64_t lost = table.lost();
    const std::string_view id = size.id.empty() ? "T" : size.id;
    print_row(sides[0], id, size, &sides[1]);
    print_row(sides[0], id, size, &sides[2]);
    if (reference) {
        print_row(sides[0], id, size, &sides[3]);
    }
    std::printf(
        "{\"id\": \"%.*s\", \"case\": \"live keys lost, refused or added again, %.*s keys\", "
        "\"value\": %lu, \"unit\": \"keys\", \"page_size\": %zu, \"roof_page_size\": %zu}\n",
        static_cast<int>(id.size()), id.data(), static_cast<int>(size.name.size()),
        size.name.data(), lost + table.refused() + (table.added() - added),
        table.store().keys.page_size(), roof.page_size());
    if (!options.wants("T3")) {
        return;
    }
    table.fill_up();
    struct Flood {
        const char* name;
        std::uint64_t networks;
    };
    // Parents that fit their sixteenth, and sources from everywhere, whose parents do not.
    for (const Flood& flood :
         {Flood{"new keys of few networks", std::max<std::uint64_t>(size.keys / 32, 1)},
          Flood{"new keys from everywhere", std::uint64_t{1} << 24}}) {
        std::vector<Side> full;
        full.push_back({flood.name, [&] {
                            return ns_per(operations, [&] {
                                table.run_new_keys(bursts, random, flood.networks);
                            });
                        }});
        full.push_back({"resident keys",
                        [&] { return ns_per(operations, [&] { table.run(bursts, random); }); }});
        (void)full[0].measure();
        run_rounds(full, options.rounds);
        print_row(full[0], "T3", size, &full[1]);
    }
    if (const std::uint64_t gone = table.lost(); gone != 0) {
        std::printf("{\"id\": \"T3\", \"case\": \"live keys lost\", \"value\": %lu}\n", gone);
    }
}

// Bytes of all memory of the tables for each live key, when the first new key is refused.
void measure_memory(const Options& options) {
    std::vector<double> seeds;
    const std::size_t keys = (std::size_t{1} << 21) * 4 * AgedTable::kFillPercent / 100;
    for (std::uint64_t seed = 0; seed < (options.quick ? 5U : 9U); ++seed) {
        seeds.push_back(bytes_per_key_at_first_refusal(keys, seed));
    }
    const std::string rounds = list_of(seeds);
    std::sort(seeds.begin(), seeds.end());
    std::printf(
        "{\"id\": \"T4\", \"case\": \"memory at the first refusal under churn, 2^21 lines\", "
        "\"value\": %.2f, \"unit\": \"bytes per live key\", \"rounds\": %s}\n",
        seeds[seeds.size() / 2], rounds.c_str());
}

int run(const Options& options) {
    if (!start_eal()) {
        std::fprintf(stderr, "the EAL did not start\n");
        return 1;
    }
    for (const Size& size : kSizes) {
        const bool wanted = options.wants("T1") || options.wants("T2") || options.wants("T3");
        const bool only_its_own =
            !size.id.empty() && (options.wants(size.id) || options.wants("T3"));
        if (wanted && (size.id.empty() || only_its_own)) {
            measure(size, options);
        }
    }
    if (options.wants("T4")) {
        measure_memory(options);
    }
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    sluice::bench::Options options;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "--quick") == 0) {
            options.quick = true;
            options.rounds = 5;
            options.operations = std::size_t{1} << 22;
        } else {
            options.ids.emplace_back(arguments[i]);
        }
    }
    return sluice::bench::run(options);
}
