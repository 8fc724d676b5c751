#include "lib/policy/texts/derived_form.hpp"

#include "lib/l7/http1/path.hpp"
#include "lib/l7/http1/texts.hpp"
#include "lib/policy/texts/letter_case.hpp"

#include <algorithm>

namespace sluice {
namespace {

using Fault = std::optional<std::string>;

// A path in its normal form has a slash before each segment and nowhere else.
Fault fault_of_prefix(const ComparedText& compared, std::uint8_t segments) {
    const auto slashes = std::count(compared.text.begin(), compared.text.end(), '/');
    if (slashes <= segments) {
        return std::nullopt;
    }
    const bool is_begin = compared.how == TextHow::Equals || compared.how == TextHow::StartsWith;
    const ByteView meant = is_begin ? path_prefix(bytes_of(compared.text), segments) : ByteView{};
    return never_so("it has at most " + std::to_string(unsigned{segments}) +
                        (segments == 1 ? " segment" : " segments"),
                    http1::as_text(meant));
}

Fault fault_of_domain(const ComparedText& compared, const PublicSuffixes& suffixes) {
    const std::string name = lowered(compared.text);
    const std::string_view registered = suffixes.registrable_domain(name);
    if (compared.how != TextHow::Equals || registered == name) {
        return std::nullopt;
    }
    return never_so("it has one label more than a public suffix", registered);
}

}  // namespace

std::optional<std::string> find_derived_fault(const ComparedText& compared, const TextName& derived,
                                              const PublicSuffixes* suffixes) {
    if (derived.kind == TextName::Kind::PathPrefix) {
        return fault_of_prefix(compared, derived.segments);
    }
    return suffixes == nullptr ? std::nullopt : fault_of_domain(compared, *suffixes);
}

}  // namespace sluice
