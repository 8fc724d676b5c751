#include "control/cli/unconfirmed_text.hpp"

#include <gtest/gtest.h>

namespace sluice::unconfirmed_text_test {
namespace {

Json answer(double seconds, const std::string& back = "00000000000000ab") {
    return {{"unconfirmed", {{"seconds_left", seconds}, {"goes_back_to", back}}}};
}

TEST(UnconfirmedText, NothingWhenAllIsConfirmed) {
    EXPECT_EQ(unconfirmed_text(Json{{"unconfirmed", nullptr}}), "");
    EXPECT_EQ(unconfirmed_text(Json::object()), "");
}

TEST(UnconfirmedText, SaysWhatComesBackAndWhen) {
    EXPECT_EQ(unconfirmed_text(answer(41.2)),
              "UNCONFIRMED: generation 00000000000000ab comes back in 42 s; `sluicectl confirm` "
              "keeps this one\n");
    EXPECT_NE(unconfirmed_text(answer(0)).find(" in 0 s;"), std::string::npos);
    EXPECT_NE(unconfirmed_text(answer(601)).find(" in 10 min 1 s;"), std::string::npos);
    EXPECT_NE(unconfirmed_text(answer(86'400)).find(" in 24 h 0 min;"), std::string::npos);
    EXPECT_NE(unconfirmed_text(answer(5, "0000000000000000")).find("no rules at all come back"),
              std::string::npos);
}

}  // namespace
}  // namespace sluice::unconfirmed_text_test
