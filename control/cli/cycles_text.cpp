#include "control/cli/cycles_text.hpp"

#include "control/cli/table.hpp"
#include "lib/rules/stage.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace sluice {
namespace {

constexpr double kThreeDigits = 99.95;
constexpr double kFourDigits = 9'999.5;

struct Cycles {
    std::array<std::uint64_t, kStageCount> by_stage{};
    std::uint64_t packets = 0;

    [[nodiscard]] std::uint64_t all() const {
        return std::accumulate(by_stage.begin(), by_stage.end(), std::uint64_t{0});
    }
    [[nodiscard]] std::uint64_t busy() const {
        return all() - by_stage[static_cast<std::size_t>(Stage::Idle)];
    }
    void add(const Cycles& other) {
        for (std::size_t i = 0; i < by_stage.size(); ++i) {
            by_stage[i] += other.by_stage[i];
        }
        packets += other.packets;
    }
};

// A dataplane that has begun anew since the sample before counts from its start.
Cycles cycles_of(const Json& now, const Json* before) {
    if (before != nullptr && count_in(before, "turns") > count_in(&now, "turns")) {
        before = nullptr;
    }
    const Json* stages_before = before == nullptr ? nullptr : &before->at("stages");
    Cycles cycles;
    cycles.packets = count_in(&now, "packets") - count_in(before, "packets");
    for (std::size_t i = 0; i < kStageCount; ++i) {
        const std::string stage{kStages[i].name};
        cycles.by_stage[i] = count_in(&now.at("stages"), stage) - count_in(stages_before, stage);
    }
    return cycles;
}

// At most five places; empty where no packet has come.
std::string per_packet(std::uint64_t cycles, std::uint64_t packets) {
    if (packets == 0) {
        return "";
    }
    const double each = static_cast<double>(cycles) / static_cast<double>(packets);
    if (each < kThreeDigits) {
        return fmt::format("{:.1f}", each);
    }
    if (each < kFourDigits) {
        return grouped(static_cast<std::uint64_t>(std::llround(each)));
    }
    return each < 1'000 * kFourDigits ? fmt::format("{:.0f}k", each / 1'000)
                                      : fmt::format("{:.0f}M", each / 1'000'000);
}

std::string busy_text(const Cycles& cycles) {
    const std::uint64_t all = cycles.all();
    return all == 0 ? ""
                    : fmt::format("{:.0f} %", 100.0 * static_cast<double>(cycles.busy()) /
                                                  static_cast<double>(all));
}

void add_row(Table& table, std::string lcore, const Cycles& cycles) {
    std::vector<std::string> cells{std::move(lcore)};
    for (const StageRow& row : kStages) {
        if (row.stage != Stage::Idle) {
            cells.push_back(
                per_packet(cycles.by_stage[static_cast<std::size_t>(row.stage)], cycles.packets));
        }
    }
    cells.push_back(per_packet(cycles.busy(), cycles.packets));
    cells.push_back(busy_text(cycles));
    table.row(std::move(cells));
}

// The base of the figures.
std::string measured_text(const Json& cycles, std::uint64_t packets) {
    return fmt::format("cycles a packet, of {} packets, one turn in {}; {} are 1 us\n",
                       grouped(packets), count_at(cycles, "of_turns"),
                       grouped(count_at(cycles, "per_second") / 1'000'000));
}

}  // namespace

std::string cycles_text(const Sample& sample) {
    Table table{{{"LCORE", kRight},
                 {"RECEIVE", kRight},
                 {"PARSE", kRight},
                 {"MATCH", kRight},
                 {"KEY", kRight},
                 {"LOCATE", kRight},
                 {"METER", kRight},
                 {"SEND", kRight},
                 {"OTHER", kRight},
                 {"ALL", kRight},
                 {"BUSY", kRight}}};
    Cycles all;
    const Json& workers = sample.now.at("workers");
    for (const Json& worker : workers) {
        const Json* before = item_before(sample, "workers", worker, {"lcore"});
        const Cycles cycles =
            cycles_of(worker.at("cycles"), before == nullptr ? nullptr : &before->at("cycles"));
        all.add(cycles);
        add_row(table, grouped(count_at(worker, "lcore")), cycles);
    }
    if (workers.size() > 1) {
        add_row(table, "all", all);
    }
    return workers.empty() ? table.text()
                           : table.text() + measured_text(workers.at(0).at("cycles"), all.packets);
}

}  // namespace sluice
