#include "control/cli/more_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::more_text_test {
namespace {

std::string more(const Json& next) {
    Json document;
    document["next"] = next;
    return more_text(document);
}

TEST(MoreText, IsThereWhereAListWasCut) {
    EXPECT_EQ(more("1:77"), "more: --after '1:77'\n");
    EXPECT_EQ(more(nullptr), "");
}

// A place names a key, which a packet brought, and is pasted into a shell.
TEST(MoreText, IsOneWordOfAShell) {
    EXPECT_EQ(more("1:a:k:1:x'; reboot; '$(id)`id`\\"),
              "more: --after '1:a:k:1:x'\\''; reboot; '\\''$(id)`id`\\'\n");
    EXPECT_EQ(more("a\nb"), "more: --after 'a\\nb'\n");
}

}  // namespace
}  // namespace sluice::more_text_test
