#include "control/daemon/web/asset_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace sluice::asset_answer_test {
namespace {

constexpr std::array<WebAsset, 2> kAssets{{
    {"/", "text/html; charset=utf-8", "\"p\"", "page", "", false},
    {"/assets/app-1.js", "text/javascript; charset=utf-8", "\"a\"", "script", "packed", true},
}};

HttpRequest asking(const std::string& path) {
    HttpRequest request{.method = "GET", .path = path};
    return request;
}

std::string header_of(const HttpResponse& response, const std::string& name) {
    const auto found =
        std::ranges::find(response.headers, name, &std::pair<std::string, std::string>::first);
    return found == response.headers.end() ? "" : found->second;
}

TEST(AssetAnswer, AFileOfTheTable) {
    const HttpResponse page = answer_asset(asking("/"), kAssets);
    EXPECT_EQ(page.status, 200U);
    EXPECT_EQ(page.fixed, "page");
    EXPECT_EQ(page.type, "text/html; charset=utf-8");
    EXPECT_EQ(header_of(page, "Cache-Control"), "no-cache");
    EXPECT_EQ(header_of(page, "ETag"), "\"p\"");
    const HttpResponse script = answer_asset(asking("/assets/app-1.js"), kAssets);
    EXPECT_EQ(script.fixed, "script");
    EXPECT_EQ(script.encoding, "");
    EXPECT_EQ(header_of(script, "Cache-Control"), "public, max-age=31536000, immutable");
    EXPECT_EQ(header_of(script, "Vary"), "Accept-Encoding");
}

TEST(AssetAnswer, PackedForWhoTakesIt) {
    struct Case {
        const char* accepted;
        bool packed;
    };
    for (const Case& one :
         {Case{"gzip", true}, Case{"br, gzip;q=0.5", true}, Case{"", false}, Case{"br", false},
          Case{"gzip;q=0", false}, Case{"gzip; q=0.0", false}, Case{"xgzip", false},
          Case{"deflate,gzip", true}, Case{"gzip;q=0.01", true}}) {
        HttpRequest request = asking("/assets/app-1.js");
        request.accept_encoding = one.accepted;
        const HttpResponse response = answer_asset(request, kAssets);
        EXPECT_EQ(response.encoding == "gzip", one.packed) << one.accepted;
        EXPECT_EQ(response.fixed, one.packed ? "packed" : "script") << one.accepted;
    }
    HttpRequest page = asking("/");
    page.accept_encoding = "gzip";
    EXPECT_EQ(answer_asset(page, kAssets).fixed, "page") << "packed it is not smaller";
}

TEST(AssetAnswer, NotSentAgainToWhoHasIt) {
    for (const char* const known : {"\"a\"", "\"x\", \"a\"", "*", "W/\"a\""}) {
        HttpRequest request = asking("/assets/app-1.js");
        request.if_none_match = known;
        const HttpResponse response = answer_asset(request, kAssets);
        EXPECT_EQ(response.status, 304U) << known;
        EXPECT_TRUE(response.fixed.empty() && response.body.empty());
        EXPECT_EQ(header_of(response, "ETag"), "\"a\"");
    }
    HttpRequest other = asking("/assets/app-1.js");
    other.if_none_match = "\"aa\"";
    EXPECT_EQ(answer_asset(other, kAssets).status, 200U);
}

TEST(AssetAnswer, NothingElseHasAPath) {
    for (const char* const path :
         {"", "/index.html", "//", "/assets/", "/assets/../assets/app-1.js", "/etc/passwd"}) {
        EXPECT_EQ(answer_asset(asking(path), kAssets).status, 404U) << path;
    }
    HttpRequest post = asking("/");
    post.method = "POST";
    EXPECT_EQ(answer_asset(post, kAssets).status, 405U);
    post.method = "HEAD";
    EXPECT_EQ(answer_asset(post, kAssets).status, 200U);
}

TEST(AssetAnswer, BuiltWithoutThePageItSaysSo) {
    const HttpResponse response = answer_asset(asking("/"), {});
    EXPECT_EQ(response.status, 200U);
    EXPECT_NE(response.fixed.find("built without"), std::string_view::npos);
    EXPECT_EQ(answer_asset(asking("/assets/app-1.js"), {}).status, 404U);
}

}  // namespace
}  // namespace sluice::asset_answer_test
