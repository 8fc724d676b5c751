#include "lib/match/public_suffixes.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace sluice {
namespace {

// FNV-1a, from the last byte to the first, so that every end of a name has its hash on the way.
constexpr std::uint64_t kHashBegin = 0xCBF2'9CE4'8422'2325;
constexpr std::uint64_t kHashPrime = 0x0000'0100'0000'01B3;

constexpr std::uint64_t hash_step(std::uint64_t hash, char byte) noexcept {
    return (hash ^ static_cast<std::uint8_t>(byte)) * kHashPrime;
}

std::uint64_t hash_of(std::string_view name) noexcept {
    std::uint64_t hash = kHashBegin;
    for (std::size_t i = name.size(); i-- > 0;) {
        hash = hash_step(hash, name[i]);
    }
    return hash;
}

std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32U);
}

std::size_t labels_of(std::string_view name) noexcept {
    return static_cast<std::size_t>(std::count(name.begin(), name.end(), '.')) + 1;
}

bool is_host_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= kMaxHostName && name.front() != '.' &&
           name.back() != '.' && name.find("..") == std::string_view::npos;
}

// True if an odd number of backslashes stands right before `at`: the byte there is a label's own.
bool is_escaped(std::string_view host, std::size_t at) noexcept {
    const std::size_t last = host.substr(0, at).find_last_not_of('\\');
    const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
    return (at - begin) % 2 != 0;
}

// The beginning of the label that ends at `end`.
std::size_t label_begin(std::string_view host, std::size_t end) noexcept {
    while (end > 0) {
        const std::size_t dot = host.rfind('.', end - 1);
        if (dot == std::string_view::npos || !is_escaped(host, dot)) {
            return dot == std::string_view::npos ? 0 : dot + 1;
        }
        end = dot;
    }
    return 0;
}

// Letters of a top-level domain are never all digits (RFC 3696, 2); an IPv6 address has colons.
bool is_address(std::string_view host) noexcept {
    const std::string_view last = host.substr(label_begin(host, host.size()));
    return last.find_first_not_of("0123456789") == std::string_view::npos ||
           host.find(':') != std::string_view::npos;
}

}  // namespace

bool are_sound(const std::vector<SuffixRule>& rules) {
    if (rules.size() > kMaxSuffixRules) {
        return false;
    }
    std::set<std::string_view> names;
    return std::all_of(rules.begin(), rules.end(), [&](const SuffixRule& rule) {
        return is_host_name(rule.name) && rule.kinds > 0 && rule.kinds < 8 &&
               names.insert(rule.name).second;
    });
}

PublicSuffixes::PublicSuffixes(const std::vector<SuffixRule>& rules)
    : slots_(std::bit_ceil(2 * rules.size() + 1)) {
    for (const SuffixRule& rule : rules) {
        put(rule);
    }
}

void PublicSuffixes::put(const SuffixRule& rule) {
    const std::uint64_t hash = hash_of(rule.name);
    std::size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot].kinds != 0) {
        slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = {tag_of(hash), static_cast<std::uint32_t>(names_.size()), rule.kinds};
    names_ += static_cast<char>(rule.name.size());
    names_ += rule.name;
    most_labels_ = std::max(most_labels_, labels_of(rule.name));
}

// 0: there is no such rule.
std::uint8_t PublicSuffixes::kinds_of(std::string_view name, std::uint64_t hash) const noexcept {
    const std::string_view names{names_};
    for (std::size_t slot = hash & (slots_.size() - 1); slots_[slot].kinds != 0;
         slot = (slot + 1) & (slots_.size() - 1)) {
        const Slot& found = slots_[slot];
        const auto size = static_cast<std::uint8_t>(names[found.at]);
        if (found.tag == tag_of(hash) && names.substr(found.at + 1, size) == name) {
            return found.kinds;
        }
    }
    return 0;
}

std::string_view PublicSuffixes::registrable_domain(std::string_view host) const noexcept {
    if (is_address(host)) {
        return host;
    }
    std::size_t suffix = label_begin(host, host.size());  // `*` is a rule of every list
    std::size_t begin = host.size() + 1;
    std::uint64_t hash = kHashBegin;
    bool below_wildcard = false;
    for (std::size_t label = 0; label <= most_labels_ && begin > 0; ++label) {
        const std::size_t end = begin - 1;
        begin = label_begin(host, end);
        for (std::size_t i = std::min(end + 1, host.size()); i-- > begin;) {
            hash = hash_step(hash, host[i]);
        }
        const std::uint8_t kinds = kinds_of(host.substr(begin), hash);
        if ((kinds & SuffixRule::kException) != 0) {
            return host.substr(begin);
        }
        if (below_wildcard || kinds != 0) {
            suffix = begin;
        }
        below_wildcard = (kinds & SuffixRule::kWildcard) != 0;
    }
    return suffix == 0 ? host : host.substr(label_begin(host, suffix - 1));
}

}  // namespace sluice
