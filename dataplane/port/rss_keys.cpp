#include "dataplane/port/rss_keys.hpp"

#include "dataplane/port/rss.hpp"
#include "dataplane/state/state_files.hpp"
#include "lib/base/log.hpp"
#include "lib/wire/fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::string_view kFileHead = "sluice rss key 1\n";
constexpr std::size_t kPart = 8;  // an IPv4 address meets no more bytes of a key

bool has_bad_part(std::span<const std::uint8_t> key) noexcept {
    for (std::size_t at = 0; at < key.size(); at += kPart) {
        if (is_degenerate(key.subspan(at, kPart))) {
            return true;
        }
    }
    return false;
}

// Sixteen bits that repeat within themselves leave a hash few values.
bool is_bad_pattern(std::span<const std::uint8_t> pattern) noexcept {
    return is_degenerate(pattern) || pattern[0] == pattern[1];
}

std::optional<RssKeys> parse_keys(const std::string& text) {
    if (text.size() != kFileHead.size() + RssKeys::kSeedSize || !text.starts_with(kFileHead)) {
        return std::nullopt;
    }
    RssKeys::Seed seed{};
    std::memcpy(seed.data(), text.data() + kFileHead.size(), seed.size());
    return RssKeys::from(seed);
}

bool save_keys(const RssKeys& keys, const std::string& directory, const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    std::string text{kFileHead};
    text.append(reinterpret_cast<const char*>(keys.seed().data()), keys.seed().size());
    const std::string temporary = path + ".new";
    const Fd file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    return file.is_open() && ::fchmod(file.get(), 0600) == 0 &&
           ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
           ::fsync(file.get()) == 0 && ::rename(temporary.c_str(), path.c_str()) == 0;
}

}  // namespace

RssKeys::RssKeys(const Seed& seed) noexcept : seed_{seed} {
    for (std::size_t i = 0; i < symmetric_.size(); ++i) {
        symmetric_[i] = seed_[kMaxRssKey + i % 2];
    }
}

std::optional<RssKeys> RssKeys::from(const Seed& seed) noexcept {
    const std::span<const std::uint8_t> all{seed};
    if (has_bad_part(all.first(kMaxRssKey)) || is_bad_pattern(all.subspan(kMaxRssKey))) {
        return std::nullopt;
    }
    return RssKeys{seed};
}

RssKeys RssKeys::make() noexcept {
    for (;;) {
        Seed seed{};
        if (::getrandom(seed.data(), seed.size(), 0) != static_cast<ssize_t>(seed.size())) {
            std::abort();  // without randomness there is no key worth having
        }
        if (const std::optional<RssKeys> keys = from(seed)) {
            return *keys;
        }
    }
}

RssKeys load_rss_keys(const std::string& state_dir) {
    const std::string path = state_dir + "/" + kRssKeyFile;
    if (std::ifstream file{path, std::ios::binary}) {
        const std::string text{std::istreambuf_iterator<char>{file},
                               std::istreambuf_iterator<char>{}};
        if (const std::optional<RssKeys> keys = parse_keys(text)) {
            return *keys;
        }
        const std::string aside = path + ".bad-" + std::to_string(::time(nullptr));
        (void)::rename(path.c_str(), aside.c_str());
        log_error("the RSS key " + path + " cannot be used; it is kept as " + aside +
                  ", and keys of rules move to other workers");
    }
    RssKeys keys = RssKeys::make();
    if (!save_keys(keys, state_dir, path)) {
        log_warn("cannot write " + path + ": " + std::strerror(errno) +
                 "; after the next start keys of rules are other workers'");
    }
    return keys;
}

}  // namespace sluice
