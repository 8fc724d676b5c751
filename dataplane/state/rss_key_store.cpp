#include "dataplane/state/rss_key_store.hpp"

#include "dataplane/state/file_head.hpp"
#include "dataplane/state/state_files.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"

#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

constexpr FileKind kRssKeysFile{{'S', 'L', 'R', 'S', 'S', 'K', 'Y', '\n'}, 2, "RSS key"};
// Version 1 had no sum: it is taken, and written anew.
constexpr std::string_view kFirstHead = "sluice rss key 1\n";
constexpr std::size_t kMostBytesOfKeys = 4096;

std::optional<RssKeys> keys_in(ByteView seed_bytes) {
    RssKeys::Seed seed{};
    if (seed_bytes.size() != seed.size()) {
        return std::nullopt;
    }
    std::memcpy(seed.data(), seed_bytes.data(), seed.size());
    return RssKeys::from(seed);
}

Result<Done> save_keys(const RssKeys& keys, const std::string& directory, const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    const auto* bytes = reinterpret_cast<const std::byte*>(keys.seed().data());
    return replace_file(path, with_head(kRssKeysFile, {bytes, bytes + keys.seed().size()}),
                        Durable::Yes);
}

// The contents of the file; nullopt: no keys that can be used.
struct KeysInFile {
    std::optional<RssKeys> keys;
    bool is_first = false;  // of the first version
};
KeysInFile keys_in_file(const std::string& text) {
    if (text.starts_with(kFirstHead)) {
        return {keys_in(bytes_of(text).subspan(kFirstHead.size())), true};
    }
    const Result<ByteView> body = body_of(kRssKeysFile, bytes_of(text));
    return {body ? keys_in(*body) : std::nullopt, false};
}

}  // namespace

FoundRssKeys load_rss_keys(const std::string& state_dir) {
    const std::string path = state_dir + "/" + kRssKeyFile;
    FoundRssKeys found{.keys = RssKeys::make()};
    const auto text = read_whole_file(path, kMostBytesOfKeys);
    if (!text && !is_about_content(text.error())) {
        found.kept = false;
        log_error(text.error().what + "; keys of rules are other workers' until the next start");
        return found;
    }
    const bool is_there = !text || *text;
    const KeysInFile there = text && *text ? keys_in_file(**text) : KeysInFile{};
    if (there.keys) {
        found.keys = *there.keys;
    } else if (is_there) {
        found.put_aside = true;
        log_error("the RSS key " + path + " cannot be used; " + put_file_aside(path) +
                  ", and keys of rules move to other workers");
    }
    if (there.keys && !there.is_first) {
        return found;
    }
    const Result<Done> saved = save_keys(found.keys, state_dir, path);
    if (!saved && !there.keys) {
        found.kept = false;
        log_error(saved.error().what + "; after the next start keys of rules are other workers'");
    }
    return found;
}

}  // namespace sluice
