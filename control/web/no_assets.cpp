#include "control/web/asset.hpp"

// A build without npm, or with -Dweb=disabled.
namespace sluice {

std::span<const WebAsset> web_assets() noexcept {
    return {};
}

std::string_view web_version() noexcept {
    return "none";
}

}  // namespace sluice
