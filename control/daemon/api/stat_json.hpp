#pragma once
#include "control/daemon/api/metrics_writer.hpp"
#include "lib/base/stat_row.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <type_traits>

// Structs of the wire as objects of the API, by the rows of their tables.
namespace sluice {

// The counts of a table under the names of its rows.
template <typename Counts, typename Names>
nlohmann::ordered_json json_by_name(const Counts& counts, const Names& names) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        object[std::string{row_name(names[i])}] = counts[i];
    }
    return object;
}

// The numbers and texts that have a name and are not rare; seconds where a row has a divisor.
template <typename Stats>
nlohmann::ordered_json numbers_json(const Stats& stats) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for_each_stat_row<Stats>([&]<typename Row>(const Row& row) {
        if constexpr (!kIsArrayRow<Row>) {
            const auto& value = stats.*row.member;
            if (row.name.text.empty() || row.name.rare) {
                return;
            }
            nlohmann::ordered_json& member = object[std::string{row.name.text}];
            member = value;
            if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
                if (row.name.divisor != 1) {
                    member = static_cast<double>(value) / static_cast<double>(row.name.divisor);
                }
            }
        }
    });
    return object;
}

// The rare ones that are not 0, added to `to`.
template <typename Stats>
void add_rare_json(const Stats& stats, nlohmann::ordered_json& to) {
    for_each_stat_row<Stats>([&](const auto& row) {
        if (row.name.rare && stats.*row.member != 0) {
            to[std::string{row.name.text}] = stats.*row.member;
        }
    });
}

// One object for each array of counts, added to `to` under the row's name.
template <typename Stats>
void add_arrays_json(const Stats& stats, nlohmann::ordered_json& to) {
    for_each_stat_row<Stats>([&]<typename Row>(const Row& row) {
        if constexpr (kIsArrayRow<Row>) {
            to[std::string{row.name}] = json_by_name(stats.*row.member, row.names);
        }
    });
}

}  // namespace sluice
