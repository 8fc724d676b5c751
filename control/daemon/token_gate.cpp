#include "control/daemon/token_gate.hpp"

#include "lib/wire/fd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::string_view kScheme = "bearer ";

Error bad_token_file(const std::string& path, const std::string& why) {
    return {Errc::Refused, fmt::format("the token of the API, {}: {}", path, why)};
}

bool is_token_char(char c) {
    return c > ' ' && c < 0x7F;
}

char small_letter(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool has_scheme(std::string_view authorization) {
    return authorization.size() >= kScheme.size() &&
           std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                      [](char a, char b) { return a == small_letter(b); });
}

// Nobody else could have read or written it; empty: so it is.
std::string exposure_of(const struct stat& info) {
    if (!S_ISREG(info.st_mode)) {
        return "is no file";
    }
    if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
        return "belongs neither to root nor to the user that sluiced is started as";
    }
    if ((info.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        return fmt::format("its mode {:04o} lets others read or write it; make it 0600, or 0640",
                           info.st_mode & 07777U);
    }
    return "";
}

}  // namespace

Result<TokenGate> TokenGate::open(const std::string& path) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat info{};
    if (!file.is_open() || ::fstat(file.get(), &info) != 0) {
        return bad_token_file(path, std::strerror(errno));
    }
    if (const std::string exposed = exposure_of(info); !exposed.empty()) {
        return bad_token_file(path, exposed);
    }
    std::array<char, kLongest + 2> bytes{};  // with the end of a line, and one to be too many
    const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
    std::string_view token{bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    token = token.substr(0, token.size() - (token.ends_with('\n') ? 1 : 0));
    if (token.size() < kShortest || token.size() > kLongest ||
        !std::all_of(token.begin(), token.end(), is_token_char)) {
        return bad_token_file(path, fmt::format("a token is one line of {} to {} printable "
                                                "characters without a space",
                                                kShortest, kLongest));
    }
    return TokenGate{token};
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

bool TokenGate::Pace::take(Clock::time_point now) {
    if (const auto earned = (now - counted_to) / every; earned > 0) {
        spent -= static_cast<unsigned>(std::min<std::int64_t>(earned, spent));
        counted_to = now;
    }
    if (spent == at_once) {
        return false;
    }
    ++spent;
    return true;
}

std::optional<RequestClass> class_by_token(std::string_view bytes, const TokenGate& gate) noexcept {
    const std::optional<RequestClass> kind = class_of(bytes);
    const bool is_known = gate.admits(header_in(bytes, "authorization:"));
    return kind && !is_known ? RequestClass::Stranger : kind;
}

}  // namespace sluice
