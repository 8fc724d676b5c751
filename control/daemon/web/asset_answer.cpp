#include "control/daemon/web/asset_answer.hpp"

#include "control/visible_text.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

constexpr std::string_view kWithoutPage =
    "This sluiced was built without the dashboard's page; its API is here.\n"
    "Build it with node and npm installed and npm's registry in reach:\n"
    "meson setup build --reconfigure -Dweb=enabled\n";

// `*`, or a list that has the tag; a weak one (W/) is the same bytes.
bool is_known_tag(std::string_view if_none_match, std::string_view etag) {
    while (!if_none_match.empty()) {
        std::string_view item = if_none_match.substr(0, if_none_match.find(','));
        if_none_match.remove_prefix(std::min(item.size() + 1, if_none_match.size()));
        item.remove_prefix(std::min(item.find_first_not_of(" \t"), item.size()));
        item = item.substr(0, item.find_last_not_of(" \t") + 1);
        item.remove_prefix(item.starts_with("W/") ? 2 : 0);
        if (item == "*" || item == etag) {
            return true;
        }
    }
    return false;
}

HttpResponse without_page() {
    HttpResponse response;
    response.type = "text/plain; charset=utf-8";
    response.fixed = kWithoutPage;
    return response;
}

HttpResponse asset_response(const WebAsset& asset, const HttpRequest& request) {
    HttpResponse response;
    response.type = asset.type;
    response.headers = {
        {"ETag", std::string{asset.etag}},
        {"Cache-Control", asset.immutable ? "public, max-age=31536000, immutable" : "no-cache"},
        {"Vary", "Accept-Encoding"}};
    if (is_known_tag(request.if_none_match, asset.etag)) {
        response.status = 304;
        response.type.clear();
        return response;
    }
    const bool is_packed = !asset.gzip.empty() && takes_gzip(request);
    response.fixed = is_packed ? asset.gzip : asset.plain;
    response.encoding = is_packed ? "gzip" : "";
    return response;
}

}  // namespace

HttpResponse answer_asset(const HttpRequest& request, std::span<const WebAsset> assets) {
    if (request.method != "GET" && request.method != "HEAD") {
        HttpResponse response =
            problem_response(405, "method not allowed", "a file of the dashboard takes GET, HEAD");
        response.allow = "GET, HEAD";
        return response;
    }
    const auto found = std::ranges::find(assets, request.path, &WebAsset::path);
    if (found != assets.end()) {
        return asset_response(*found, request);
    }
    return assets.empty() && request.path == "/"
               ? without_page()
               : problem_response(404, "not found", "there is no " + visible_line(request.path));
}

}  // namespace sluice
