#include "control/simulation/load_words.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace sluice::load_words_test {
namespace {

using namespace std::chrono_literals;

std::vector<Nanoseconds> all_of(const RunWords& words) {
    const Result<Load> load = draw_load(words, Per::Packet, Spelling::Option);
    EXPECT_TRUE(load.has_value());
    std::vector<Nanoseconds> times;
    for (auto one = load->arrivals(); one; one = load->arrivals()) {
        times.push_back(one->at.time_since_epoch());
    }
    return times;
}

TEST(LoadWords, BurstsLieOnBothSidesOfAnEdge) {
    RunWords words;
    words.load = "edge";
    words.size = "2";
    words.edge_at = "1s";
    words.apart = "20ms";
    EXPECT_EQ(all_of(words), (std::vector<Nanoseconds>{990ms, 990ms, 1010ms, 1010ms}));
    words.apart = "2s";
    EXPECT_EQ(all_of(words), (std::vector<Nanoseconds>{0s, 0s, 2s, 2s}));
}

TEST(LoadWords, HitsComeAsTheyAreListed) {
    RunWords words;
    words.load = "hits";
    EXPECT_EQ(all_of(words), std::vector<Nanoseconds>{});
    words.hits = {"0s", "120ms", "120ms", "1h"};
    EXPECT_EQ(all_of(words), (std::vector<Nanoseconds>{0s, 120ms, 120ms, 1h}));
}

TEST(LoadWords, AnErrorNamesTheOptionOrTheMember) {
    struct Row {
        void (*change)(RunWords&);
        std::string_view option;
        std::string_view member;
    };
    const Row rows[] = {
        {[](RunWords& o) { o.load = "bursty"; },
         "--load is one of backlog, constant, bursts, "
         "poisson, on-off, edge, hits, capture; found 'bursty'",
         "`load` is one of backlog, constant, "
         "bursts, poisson, on-off, edge, hits; found 'bursty'"},
        {[](RunWords& o) { o.ask_every = "x"; }, "--ask-every: ", "`ask_every`: "},
        {[](RunWords& o) {
             o.load = "hits";
             o.hits = {"2s", "1s"};
         },
         "--hits stand", "`hits` stand"},
        {[](RunWords& o) {
             o.load = "hits";
             o.hits = {"900d"};
         },
         "--hits is at most", "`hits` is at most"},
        {[](RunWords& o) {
             o.load = "hits";
             o.hits.assign(kMostHits + 1, "0s");
         },
         "--hits has at most 10000", "`hits` has at most 10000"},
        {[](RunWords& o) {
             o.load = "edge";
             o.apart = "3s";
         },
         "--apart is at most twice --edge-at", "`apart` is at most twice `edge_at`"},
    };
    for (const Row& row : rows) {
        RunWords words;
        row.change(words);
        for (const auto& [spelling, says] :
             {std::pair{Spelling::Option, row.option}, std::pair{Spelling::Member, row.member}}) {
            const Result<Load> load = draw_load(words, Per::Packet, spelling);
            ASSERT_FALSE(load.has_value()) << says;
            EXPECT_TRUE(load.error().what.starts_with(says)) << load.error().what;
        }
    }
}

}  // namespace
}  // namespace sluice::load_words_test
