#include "dataplane/state/slots_store.hpp"

#include "dataplane/state/file_head.hpp"
#include "dataplane/state/whole_file.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace sluice {
namespace {

std::string text_of_file(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

// Raised whenever what slots_codec writes changes its form.
constexpr FileKind kSlotsFile{{'S', 'L', 'S', 'L', 'O', 'T', 'S', '\n'}, 2, "file of slots"};

}  // namespace

Result<Done> SlotsStore::save(const KeptSlots& slots) const {
    const std::vector<std::byte> bytes = with_head(kSlotsFile, encode(slots));
    const std::string there = text_of_file(path_);
    const bool is_there = std::ranges::equal(bytes, bytes_of(there));
    return is_there ? Result<Done>{Done{}} : replace_file(path_, bytes, Durable::No);
}

Result<std::optional<SlotsImage>> SlotsStore::load(std::uint64_t region) const {
    std::ifstream file{path_, std::ios::binary};
    if (!file) {
        return std::optional<SlotsImage>{};
    }
    const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    const Result<ByteView> body = body_of(kSlotsFile, bytes_of(text));
    Result<KeptSlots> kept = body ? decode_slots(*body) : Result<KeptSlots>{body.error()};
    if (!kept) {
        return Error{Errc::BadSyntax, path_ + " cannot be read (" + kept.error().what + "); " +
                                          put_file_aside(path_)};
    }
    if (kept->region != region) {
        return std::optional<SlotsImage>{};
    }
    return std::optional{std::move(kept->slots)};
}

}  // namespace sluice
