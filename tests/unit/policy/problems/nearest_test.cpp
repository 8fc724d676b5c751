#include "lib/policy/problems/nearest.hpp"

#include "lib/policy/expression/operand.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::nearest_test {
namespace {

struct Row {
    std::string_view word;
    std::string_view want;
};

TEST(Nearest, FindsTheFieldThatWasMeant) {
    const Row rows[] = {
        {"ip.scr", "ip.src"},
        {"l4.dprot", "l4.dport"},
        {"ip.protocol", "ip.proto"},
        {"tcp.flags.sny", "tcp.flags.syn"},
        {"http.hots", "http.host"},
        {"eth.typ", "eth.type"},
        {"vlan.id2", "vlan.id"},
        {"completely.else", ""},
        {"x", ""},
        {"", ""},
        {std::string_view{
             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
         ""},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(nearest(row.word, field_names()), row.want) << row.word;
    }
}

TEST(Nearest, CountsASwapAsOneSlip) {
    constexpr auto kWords = std::to_array<std::string_view>({"mode", "when", "key", "in"});
    EXPECT_EQ(nearest("moed", kWords), "mode");
    EXPECT_EQ(nearest("kye", kWords), "key");
    EXPECT_EQ(nearest("inn", kWords), "in");
    EXPECT_EQ(nearest("k", kWords), "");  // short words are near to everything
}

TEST(DidYouMean, SaysNothingRatherThanNonsense) {
    constexpr auto kWords = std::to_array<std::string_view>({"enforce", "monitor"});
    EXPECT_EQ(did_you_mean("enforced", kWords), "; did you mean `enforce`?");
    EXPECT_EQ(did_you_mean("zzz", kWords), "");
    EXPECT_EQ(list_of(kWords), "enforce, monitor");
}

}  // namespace
}  // namespace sluice::nearest_test
