#include "dataplane/state/rss_key_store.hpp"

#include "dataplane/state/file_head.hpp"
#include "dataplane/state/state_files.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

constexpr FileKind kRssKeysFile{{'S', 'L', 'R', 'S', 'S', 'K', 'Y', '\n'}, 2, "RSS key"};
// Version 1 had no sum: it is taken, and written anew.
constexpr std::string_view kFirstHead = "sluice rss key 1\n";

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

}  // namespace

FoundRssKeys load_rss_keys(const std::string& state_dir) {
    const std::string path = state_dir + "/" + kRssKeyFile;
    FoundRssKeys found{.keys = RssKeys::make()};
    bool found_first = false;  // they lie there already
    if (std::ifstream file{path, std::ios::binary}) {
        const std::string text{std::istreambuf_iterator<char>{file},
                               std::istreambuf_iterator<char>{}};
        const Result<ByteView> body = body_of(kRssKeysFile, bytes_of(text));
        const bool is_first = text.starts_with(kFirstHead);
        const std::optional<RssKeys> keys = is_first
                                                ? keys_in(bytes_of(text).subspan(kFirstHead.size()))
                                            : body ? keys_in(*body)
                                                   : std::nullopt;
        if (keys && !is_first) {
            found.keys = *keys;
            return found;
        }
        if (keys) {
            found.keys = *keys;
            found_first = true;
        } else {
            found.put_aside = true;
            log_error("the RSS key " + path + " cannot be used; " + put_file_aside(path) +
                      ", and keys of rules move to other workers");
        }
    }
    const Result<Done> saved = save_keys(found.keys, state_dir, path);
    if (!saved && !found_first) {
        found.kept = false;
        log_error(saved.error().what + "; after the next start keys of rules are other workers'");
    }
    return found;
}

}  // namespace sluice
