#include "lib/policy/domains/suffix_list.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace sluice;

// A list of public suffixes, and behind an empty byte the host that is looked up in it: what is
// found is an end of the host, and looking that up changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::size_t split = text.find('\0');
    const auto rules = read_suffix_list(text.substr(0, split));
    if (!rules) {
        return rules.error().what.empty() ? std::abort(), 0 : 0;
    }
    if (!are_sound(*rules)) {
        std::abort();
    }
    const std::string_view host =
        split == std::string_view::npos ? "www.example.co.uk" : text.substr(split + 1);
    const PublicSuffixes suffixes{*rules};
    const std::string_view found = suffixes.registrable_domain(host);
    if (!host.ends_with(found) || suffixes.registrable_domain(found) != found) {
        std::abort();
    }
    return 0;
}
