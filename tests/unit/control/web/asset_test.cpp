#include "control/web/asset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace sluice {
namespace {

const WebAsset* web_asset_of(std::string_view begin) {
    const auto assets = web_assets();
    const auto found = std::ranges::find_if(
        assets, [&](const WebAsset& asset) { return asset.path.starts_with(begin); });
    return found == assets.end() ? nullptr : &*found;
}

// Built without the page, there is no asset, and nothing to look at.
TEST(WebAssets, PathsAndTagsAreEachOnlyThereOnce) {
    std::set<std::string_view> paths;
    std::set<std::string_view> tags;
    for (const WebAsset& asset : web_assets()) {
        EXPECT_TRUE(paths.insert(asset.path).second) << asset.path;
        EXPECT_TRUE(tags.insert(asset.etag).second) << asset.etag;
        EXPECT_TRUE(asset.etag.starts_with('"') && asset.etag.ends_with('"')) << asset.etag;
        EXPECT_EQ(asset.immutable, asset.path != "/") << asset.path;
    }
    EXPECT_EQ(paths.empty(), web_version() == "none");
}

TEST(WebAssets, BytesAreThoseOfTheirRow) {
    for (const WebAsset& asset : web_assets()) {
        EXPECT_FALSE(asset.plain.empty()) << asset.path;
        EXPECT_LT(asset.gzip.size(), asset.plain.size()) << asset.path;
        EXPECT_TRUE(asset.gzip.empty() || asset.gzip.starts_with("\x1f\x8b")) << asset.path;
    }
    if (web_assets().empty()) {
        return;
    }
    ASSERT_NE(web_asset_of("/assets/icon-"), nullptr);
    EXPECT_TRUE(web_asset_of("/assets/icon-")->plain.starts_with("<svg"));
    EXPECT_EQ(web_assets().front().path, "/");
    EXPECT_TRUE(web_assets().front().plain.starts_with("<!doctype html>"));
}

// The page is of this build: it names what is loaded first, and these name what is loaded later, by
// the hash of each.
TEST(WebAssets, EachIsNamedByThePageOrByAnother) {
    for (const WebAsset& asset : web_assets()) {
        const std::size_t slash = asset.path.rfind('/');
        const std::string_view file = asset.path.substr(slash + 1);
        EXPECT_TRUE(asset.path == "/" || std::ranges::any_of(web_assets(),
                                                             [&](const WebAsset& other) {
                                                                 return other.path != asset.path &&
                                                                        other.plain.find(file) !=
                                                                            std::string_view::npos;
                                                             }))
            << asset.path;
    }
}

}  // namespace
}  // namespace sluice
