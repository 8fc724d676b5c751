#include "dataplane/state/cluster_secret.hpp"

#include "lib/base/read_file.hpp"
#include "lib/bucket/hash/aes_hash.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <sys/stat.h>

namespace sluice {
namespace {

constexpr std::size_t kDigits = 32;

std::optional<unsigned> hex_digit(char digit) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const char lower = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
    const std::size_t value = kHex.find(lower);
    return value == std::string_view::npos ? std::nullopt
                                           : std::optional{static_cast<unsigned>(value)};
}

// The digits in their order, each half of the secret most significant digit first.
std::optional<HashSecret> secret_of(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
        text.remove_suffix(1);
    }
    if (text.size() != kDigits) {
        return std::nullopt;
    }
    HashSecret secret{};
    for (std::size_t i = 0; i < kDigits; ++i) {
        const std::optional<unsigned> digit = hex_digit(text[i]);
        if (!digit) {
            return std::nullopt;
        }
        std::uint64_t& half = secret[i / 16];
        half = half << 4 | *digit;
    }
    return secret;
}

}  // namespace

Result<HashSecret> read_cluster_secret(const std::string& file) {
    constexpr std::size_t kMost = 64;
    if (!AesHash::works_here()) {
        return Error{Errc::Refused,
                     "this CPU has no AES instructions, by which the boxes of a cluster name "
                     "their keys: it can be in no cluster"};
    }
    struct stat info{};
    if (::stat(file.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return Error{Errc::Refused,
                     "the cluster's secret " + file + " may be read by others: `chmod 600` it"};
    }
    const Result<std::optional<std::string>> text = read_whole_file(file, kMost);
    if (!text) {
        return Error{text.error().code, "the cluster's secret " + file + ": " + text.error().what};
    }
    if (!*text) {
        return Error{Errc::Refused, "the cluster's secret " + file + " is not there"};
    }
    const std::optional<HashSecret> secret = secret_of(**text);
    if (!secret) {
        return Error{Errc::BadSyntax,
                     "the cluster's secret " + file + " must be 32 hexadecimal digits"};
    }
    return *secret;
}

}  // namespace sluice
