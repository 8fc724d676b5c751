#include "tests/pktgen/free_pages.hpp"

#include <charconv>
#include <fstream>
#include <string>
#include <system_error>

namespace sluice::pktgen {
namespace {

// `hugepages-2048kB`: 2048; 0 for another name.
std::uint64_t kilobytes_of(const std::string& name) {
    constexpr std::string_view kBefore = "hugepages-";
    std::uint64_t kilobytes = 0;
    if (!name.starts_with(kBefore)) {
        return 0;
    }
    const auto [end, error] =
        std::from_chars(name.data() + kBefore.size(), name.data() + name.size(), kilobytes);
    return error == std::errc{} && std::string_view{end} == "kB" ? kilobytes : 0;
}

}  // namespace

std::uint64_t free_huge_megabytes(const std::filesystem::path& pages) {
    constexpr std::uint64_t kOfMegabyte = 1024;
    std::uint64_t kilobytes = 0;
    std::error_code none;
    for (const auto& size : std::filesystem::directory_iterator{pages, none}) {
        std::ifstream file{size.path() / "free_hugepages"};
        std::uint64_t free = 0;
        if (file >> free) {
            kilobytes += free * kilobytes_of(size.path().filename().string());
        }
    }
    return kilobytes / kOfMegabyte;
}

}  // namespace sluice::pktgen
