#include "control/daemon/token_gate.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view kScheme = "bearer ";

char small_letter(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool has_scheme(std::string_view authorization) {
    return authorization.size() >= kScheme.size() &&
           std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                      [](char a, char b) { return a == small_letter(b); });
}

}  // namespace

Result<TokenGate> TokenGate::open(const std::string& path) {
    const Result<std::string> token = read_secret_file(path, {"the token of the API", "token"});
    if (!token) {
        return token.error();
    }
    return TokenGate{*token};
}

TokenGate::TokenGate(std::string_view token) {
    std::copy_n(token.begin(), std::min(token.size(), kLongest), token_.begin());
}

bool TokenGate::admits(std::string_view authorization) const noexcept {
    if (!has_scheme(authorization)) {
        return false;
    }
    const std::string_view said = authorization.substr(kScheme.size());
    std::array<char, kLongest> padded{};
    std::copy_n(said.begin(), std::min(said.size(), kLongest), padded.begin());
    volatile unsigned differs = said.size() > kLongest ? 1U : 0U;
    for (std::size_t i = 0; i < kLongest; ++i) {
        differs = differs | static_cast<unsigned char>(padded[i] ^ token_[i]);
    }
    return differs == 0;
}

std::optional<RequestClass> class_by_token(std::string_view bytes, const TokenGate& gate) noexcept {
    const std::optional<RequestClass> kind = class_of(bytes);
    const bool is_known = gate.admits(header_in(bytes, "authorization:"));
    return kind && !is_known ? RequestClass::Stranger : kind;
}

}  // namespace sluice
