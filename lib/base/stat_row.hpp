#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

// A number that the box tells stands in one row of one table: the wire, the API and the metrics
// loop over it. The table of a struct is its specialization of kStatRows.
namespace sluice {

// The name of a number in the API's objects. A divisor makes seconds of parts of a second.
struct StatName {
    std::string_view text;  // empty: the object does not have it
    std::uint64_t divisor = 1;
    bool rare = false;  // left out where it is 0
};

// The samples of a number of which there are thousands.
enum class StatSamples : std::uint8_t {
    All,
    NotZero,   // those that are not 0
    Detailed,  // likewise, of the first items alone; the others have one in common
};

// A family of metrics, its one label where a struct has several numbers of it, and a divisor.
struct StatMetric {
    std::string_view family;  // empty: there is none
    std::string_view help;
    std::string_view label{};
    std::string_view value{};
    std::uint64_t divisor = 1;
    StatSamples samples = StatSamples::All;
};

template <typename Stats, typename Member>
struct StatRow {
    Member Stats::* member;
    StatName name{};
    StatMetric metric{};
};
template <typename Stats, typename Member>
StatRow(Member Stats::*, StatName) -> StatRow<Stats, Member>;
template <typename Stats, typename Member>
StatRow(Member Stats::*, StatName, StatMetric) -> StatRow<Stats, Member>;
template <typename Stats, typename Member>
StatRow(Member Stats::*) -> StatRow<Stats, Member>;

// Numbers by event, reason or verdict, in the order of `names`: an object of the API, and a family
// with a sample of each under `label`.
template <typename Stats, std::size_t kCount, typename Name>
struct StatArrayRow {
    std::array<std::uint64_t, kCount> Stats::* member;
    const std::array<Name, kCount>& names;
    std::string_view name;
    StatMetric metric;  // its value is each name
};
template <typename Stats, std::size_t kCount, typename Name>
StatArrayRow(std::array<std::uint64_t, kCount> Stats::*, const std::array<Name, kCount>&,
             std::string_view, StatMetric) -> StatArrayRow<Stats, kCount, Name>;

// A tuple of rows.
template <typename Stats>
inline constexpr std::tuple<> kStatRows{};

// Calls `visit` with each row of a struct, in their order.
template <typename Stats>
constexpr void for_each_stat_row(auto&& visit) {
    std::apply([&](const auto&... row) { (visit(row), ...); }, kStatRows<Stats>);
}

// Every number of a struct, to the wire and from it.
template <typename Stats>
void serialize_rows(auto& archive, Stats& stats) {
    for_each_stat_row<std::remove_const_t<Stats>>(
        [&](const auto& row) { archive(stats.*row.member); });
}

template <typename Row>
inline constexpr bool kIsArrayRow = false;
template <typename Stats, std::size_t kCount, typename Name>
inline constexpr bool kIsArrayRow<StatArrayRow<Stats, kCount, Name>> = true;

}  // namespace sluice
