#include "control/cli/commands.hpp"
#include "control/cli/cycles_text.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/table.hpp"
#include "control/cli/workers_text.hpp"

#include <fmt/format.h>

#include <array>

namespace sluice {
namespace {

std::string state_text(const Json& worker) {
    const auto stalled = count_at(worker, "stalled_ms");
    return stalled == 0       ? "runs"
           : stalled < 10'000 ? fmt::format("stalled for {} ms", grouped(stalled))
                              : fmt::format("stalled for {}", duration_text(stalled / 1'000));
}

std::string lanes_text(const Json& worker) {
    std::string lanes;
    for (const Json& lane : worker.at("lanes")) {
        lanes += (lanes.empty() ? "" : ", ") + lane.get<std::string>();
    }
    return lanes;
}

// Counts of a worker, in the order of its columns.
using Counts = std::array<std::uint64_t, 7>;
Counts counts_of(const Json& worker) {
    const auto count = [](const Json& object, const char* member) {
        return object.value(member, std::uint64_t{0});
    };
    return {count(worker, "stalls"),
            count(worker, "packets"),
            count(worker.at("verdicts"), "drop"),
            count(worker, "handed_over"),
            count(worker, "table_full"),
            count(worker, "table_entries"),
            count(worker, "table_slots")};
}

void add_row(Table& table, std::string lcore, std::string state, const Counts& counts,
             std::string lanes) {
    std::vector<std::string> cells{std::move(lcore), std::move(state)};
    for (const std::uint64_t count : counts) {
        cells.push_back(grouped(count));
    }
    cells.push_back(std::move(lanes));
    table.row(std::move(cells));
}

}  // namespace

std::string workers_text(const Json& document) {
    Table table{{{"LCORE", kRight},
                 {"STATE"},
                 {"STALLS", kRight},
                 {"PACKETS", kRight},
                 {"DROPPED", kRight},
                 {"HANDED OVER", kRight},
                 {"TABLE FULL", kRight},
                 {"KEYS", kRight},
                 {"TABLE SLOTS", kRight},
                 {"RECEIVES"}}};
    Counts sums{};
    const Json& workers = document.at("workers");
    for (const Json& worker : workers) {
        const Counts counts = counts_of(worker);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i] += counts[i];
        }
        add_row(table, grouped(count_at(worker, "lcore")), state_text(worker), counts,
                lanes_text(worker));
    }
    if (workers.size() > 1) {
        add_row(table, "all", "", sums, "");
    }
    return table.text();
}

ExitCode run_workers(const Options& options) {
    return show_with_rates(options, "/v1/workers", [&](const Sample& sample) {
        return options.cycles ? cycles_text(sample) : workers_text(sample.now);
    });
}

}  // namespace sluice
