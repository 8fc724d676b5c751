#pragma once
#include <span>
#include <string_view>

// Files of the dashboard, embedded: the page and what answers it are of one version, and no path is
// ever opened.
namespace sluice {

struct WebAsset {
    std::string_view path;         // "/", "/assets/app-HASH.js"
    std::string_view type;         // "text/javascript; charset=utf-8"
    std::string_view etag;         // with its quotes
    std::string_view plain, gzip;  // gzip empty: not smaller
    bool immutable;                // path has the hash of its content
};

[[nodiscard]] std::span<const WebAsset> web_assets() noexcept;  // empty: built without the page
[[nodiscard]] std::string_view web_version() noexcept;          // hash of all assets

}  // namespace sluice
