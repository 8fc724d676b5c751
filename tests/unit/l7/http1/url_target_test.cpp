#include "lib/l7/http1/url_target.hpp"

#include "lib/l7/http1/texts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace sluice::url_target_test {
namespace {

using http1::as_text;

struct Row {
    std::string_view target;
    std::string_view host;
    std::string_view path;  // as `new URL(target, "http://x").pathname` of Node 20 has it
};

const Row kRows[] = {
    {"/login", "", "/login"},
    {"//h/login", "h", "/login"},
    {"/\\login", "login", "/"},
    {"\\\\h\\login", "h", "/login"},
    {"///h/login", "h", "/login"},
    {"////login", "login", "/"},
    {"//h", "h", "/"},
    {"//u:p@h:1/login", "u:p@h:1", "/login"},
    {"//[::1]/login", "[::1]", "/login"},
    {"//static//a.js", "static", "//a.js"},
    {"/x\\login", "", "/x/login"},
    {"/x\\..\\login", "", "/login"},
    {"/.\\login", "", "/login"},
    {"/%5clogin", "", "/%5clogin"},
    {"/a/%2e%2E/login", "", "/login"},
    {"/a/.%2e/login", "", "/login"},
    {"/a/%2e./login", "", "/login"},
    {"/../../login", "", "/login"},
    {"/a//../login", "", "/a/login"},
    {"/.//login", "", "//login"},
    {"/x/..//h/login", "", "//h/login"},
    {"/login/.", "", "/login/"},
    {"/login/x/..", "", "/login/"},
    {"/login//", "", "/login//"},
    {"/...", "", "/..."},
    {"/%2", "", "/%2"},
    {"/login;x", "", "/login;x"},
};

TEST(UrlTarget, IsReadAsNodeReadsIt) {
    std::array<std::byte, 64> room;
    for (const Row& row : kRows) {
        SCOPED_TRACE(row.target);
        const ByteView target = bytes_of(row.target);
        const NetworkPath network = split_network_path(target);
        EXPECT_EQ(as_text(network.host), row.host);
        EXPECT_EQ(as_text(url_path(network.path, room)), row.path);
    }
}

TEST(UrlTarget, ATextThatDoesNotFitIsAbsent) {
    std::array<std::byte, 6> room;
    EXPECT_EQ(as_text(with_slashes(bytes_of("/a\\b\\c"), room)), "/a/b/c");
    EXPECT_FALSE(http1::is_present(with_slashes(bytes_of("/a\\b\\c\\"), room)));
    EXPECT_EQ(as_text(url_path(bytes_of("/a/.."), room)), "/");
    EXPECT_FALSE(http1::is_present(url_path(bytes_of("/a/../"), room)));
}

TEST(UrlTarget, SlashesAloneNameNoHost) {
    for (const std::string_view target : {"/", "//", "/\\", "///"}) {
        EXPECT_FALSE(http1::is_present(split_network_path(bytes_of(target)).host)) << target;
    }
}

}  // namespace
}  // namespace sluice::url_target_test
